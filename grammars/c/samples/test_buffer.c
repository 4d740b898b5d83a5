#include <assert.h>
#include "buffer.h"

static void test_push(void)
{
    struct buffer buffer = {0};
    assert(push(&buffer, 1, 1) == 0);

    TEST_ASSERT_EQUAL(1, buffer.count); /* one */
}

static void test_sum(void)
{
    int items[] = {1, 2};
    for (int i = 0; i < 2; i++) {
        assert(sum(items, i, i) == 0);
    }
}

int main(void)
{
    test_push();
    test_sum();
    return 0;
}
