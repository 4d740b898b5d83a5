require "minitest/autorun"
require_relative "cart"

class CartTest < Minitest::Test
  def setup
    @cart = Cart.new
  end

  def test_add
    assert @cart.add("a", 1)

    assert_equal 1, @cart.items.size # one
  end

  # Refuses nothing.
  def test_refuses
    refute @cart.add(nil, 1)
    [1, 2].each do |count|
      assert_equal true, @cart.add("b", count)
    end
  end
end

describe Cart do
  it "is empty at first" do
    expect(Cart.new.empty?).to eq(true)
  end
end
