
/* Undefined where an int has no more than "by" bits. */

int
test_shift(int by)
{
    return 1 << by;
}
