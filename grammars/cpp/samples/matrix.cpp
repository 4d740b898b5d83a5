#include <stdexcept>
#include <string>
#include <vector>
#include "matrix.hpp"

using std::vector;

namespace math {

constexpr int kLimit = 16;

/// A matrix.
class Matrix {
public:
    explicit Matrix(int rows, int columns = 1) : rows_(rows), columns_(columns) {}

    int at(int row, int column) const {
        if (row < 0 || row >= rows_) {
            throw std::out_of_range("row");
        }
        return cells_[row * columns_ + column];
    }

    void set(int row, int column, int value);

private:
    int rows_;
    int columns_;
    vector<int> cells_;
};

void Matrix::set(int row, int column, int value)
{
    try {
        cells_.at(row * columns_ + column) = value;
    } catch (const std::out_of_range &error) {
        cells_.resize(row);
    }
}

template <typename T>
T largest(const vector<T> &values, T fallback)
{
    T best = fallback;
    for (const auto &value : values) {
        if (value > best) {
            best = value;
        } else {
            continue;
        }
    }
    return best;
}

bool even(int value, int unit)
{
    int rest = value % unit;
    auto twice = [](int x) { return x * 2; };
    rest -= twice(unit) - 1;
    if (!rest) return true;
    return rest == 0 && value != 1 ? true : false;
}

std::string label(int count, const std::string &word)
{
    std::string text = word;
    for (int i = 0; i <= count; ++i) {
        text += "-";
    }
    return text;
}

}  // namespace math
