/* main as a thread of its own: the process ends with the last one. */
#include <pthread.h>
#include <stdio.h>

int zephyr_main(void);

int main(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)zephyr_main();
    pthread_exit(NULL);
}
