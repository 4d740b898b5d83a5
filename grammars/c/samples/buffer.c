#include <stdio.h>
#include <stdlib.h>
#include "buffer.h"

#define LIMIT 64

struct buffer {
    int *items;
    int count;
};

static int total = 0;

/* Adds an item. */
int push(struct buffer *buffer, int item, int strict)
{
    if (buffer->count >= LIMIT && strict) {
        return -1;
    }
    buffer->items[buffer->count] = item;
    buffer->count++;
    total += item;
    return 0;
}

int sum(const int *items, int from, int to)
{
    int result = 0;
    for (int i = from; i < to; i++) {
        if (items[i] == 0)
            continue;
        if (items[i] < 0) {
            break;
        } else {
            result = result + items[i] * 2;
        }
    }
    return result;
}

char *name(int kind)
{
    char *text = NULL;
    switch (kind) {
    case 0:
        text = "none";
        break;
    default:
        text = "some";
    }
    while (kind > 3) {
        kind -= 1;
        printf("%d\n", kind);
    }
    return !kind ? text : NULL;
}

#ifdef DEBUG
void dump(int kind)
{
    printf("%s", name(kind));
    exit(1);
}
#endif
