#include <gtest/gtest.h>
#include "matrix.hpp"

TEST(MatrixTest, StartsAtZero)
{
    math::Matrix matrix(2, 2);
    EXPECT_EQ(matrix.at(0, 0), 0);

    ASSERT_THROW(matrix.at(3, 0), std::out_of_range);  // outside
}

TEST_F(Fixture, Even)
{
    for (int i = 0; i < 4; i += 2) {
        EXPECT_TRUE(math::even(i, 2));
    }
}
