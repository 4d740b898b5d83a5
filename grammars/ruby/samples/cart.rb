require "set"

# A cart.
class Cart
  LIMIT = 10

  attr_reader :items

  def initialize(limit = LIMIT, strict: true)
    @items = []
    @limit = limit
    @strict = strict
  end

  # Adds an item.
  def add(item, count)
    return false if item.nil?
    if @items.size >= @limit && @strict
      raise ArgumentError, "full"
    else
      @items << item
    end
    count.times do |at|
      next if at == 0
      @items.push(item)
    end
    true
  end

  def total(prices, rate = 1)
    sum = 0
    @items.each { |item| sum += prices.fetch(item, 0) * rate }
    while sum > 100
      sum -= 100
      break if sum == 50
    end
    begin
      sum = Integer(sum)
    rescue ArgumentError => error
      puts error.message
    ensure
      @done = true
    end
    sum
  end

  def label(name)
    case name
    when "a" then "first"
    else "other"
    end
  end

  def empty?
    !@items.any? || @items[0] == nil
  end

  def self.of(items, limit)
    cart = new(limit)
    items.each { |item| cart.add(item, 1) }
    items.size > 1 ? cart : nil
  end
end
