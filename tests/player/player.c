// Plays a file of touches, as `ramline trace make` and `trace import` write it, inside a memory control group, with nothing else of its own in
// that group: the file is decoded, and all memory for it is locked, before the process enters. It shares no code with ramline: it is what the
// lab's worker is held against. See tests/player/run.
//
//     player TOUCHES GROUP zeros|noise [FILE...]
//
// GROUP is the folder of the group; FILE is named once for each region that is a file, in their order. It prints "ready" when it is in the group,
// and goes on after a line on standard input. Then it prints one line for the fill, and one a round:
//
//     NAME MAJOR-FAULTS REFAULTS-OF-FILES REFAULTS-OF-ANONYMOUS NANOSECONDS
//
// each since the line before, and waits for another line before it ends.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_REGIONS = 64 };
enum { FILE_BACKED, ANONYMOUS, SHARED };
enum { LOAD, STORE, READ, ROUND = 4 };

struct touch {
    uint32_t page;
    uint32_t bytes;
    uint16_t within;
    uint8_t region;
    uint8_t kind;
};

struct region {
    uint64_t bytes;
    int memory;
    unsigned char *map;
    int file;
    // Of the decoder: the page touched last, and the region touched after this one the last time.
    uint64_t page;
    uint32_t next;
};

static struct region regions[MOST_REGIONS];
static uint32_t region_count;
static struct touch *touches;
static size_t touch_count, touch_room;
static unsigned char *buffer;
static uint32_t longest = 1;

static void fail(const char *text, ...) {
    va_list rest;
    va_start(rest, text);
    fputs("player: ", stderr);
    vfprintf(stderr, text, rest);
    fputc('\n', stderr);
    exit(1);
}

// The file.

struct bytes {
    const unsigned char *at, *end;
};

static unsigned byte(struct bytes *from) {
    if (from->at == from->end)
        fail("a record is cut off");
    return *from->at++;
}

static uint64_t number(struct bytes *from) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        unsigned next = byte(from);
        value |= (uint64_t)(next & 0x7f) << shift;
        if (!(next & 0x80))
            return value;
    }
    fail("a number is longer than 64 bits");
    return 0;
}

static uint32_t word(const unsigned char *at) {
    return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static void add(struct touch touch) {
    if (touch_count == touch_room) {
        touch_room = touch_room ? 2 * touch_room : 1 << 16;
        touches = realloc(touches, touch_room * sizeof *touches);
        if (!touches)
            fail("no memory for so many touches");
    }
    touches[touch_count++] = touch;
}

static void described(struct bytes from, uint32_t count) {
    while (count--) {
        if (region_count == MOST_REGIONS)
            fail("more than %d regions", MOST_REGIONS);
        unsigned flags = byte(&from);
        struct region *region = &regions[region_count];
        *region = (struct region){.bytes = number(&from), .memory = flags & 3, .file = -1, .next = region_count};
        if (region->memory == FILE_BACKED) {
            number(&from);
            number(&from);
            if (flags & 4) {
                uint64_t length = number(&from);
                if (length > (uint64_t)(from.end - from.at))
                    fail("a name is cut off");
                from.at += length;
            }
        }
        if (flags & 16)
            for (int part = 0; part < 17; part++)
                number(&from);
        region_count++;
    }
}

// Each block is coded by itself: a touch begins with a byte of access, distance from the last page of its region, and what is named.
static void block(struct bytes from, uint32_t count) {
    static const int length[8] = {0, 0, 1, 2, 3, 4, 6, -1};
    uint32_t current = 0, within = 0, bytes = PAGE;
    for (uint32_t n = 0; n < region_count; n++)
        regions[n].page = 0, regions[n].next = n;
    while (count--) {
        unsigned tag = byte(&from);
        if (tag & 0x80) {
            if (tag != 0x80)
                fail("the file has epochs or mappings that change: only rounds can be played");
            add((struct touch){.kind = ROUND, .page = (uint32_t)number(&from)});
            continue;
        }
        uint64_t region = regions[current].next;
        if (tag & 0x20)
            region = number(&from);
        if (tag & 0x40) {
            unsigned more = byte(&from);
            if (more & 1)
                number(&from);
            if (more & 2)
                number(&from);
            if (more & 4)
                within = (uint32_t)number(&from), bytes = (uint32_t)number(&from);
        }
        if (region >= region_count)
            fail("there is no region %llu", (unsigned long long)region);
        regions[current].next = (uint32_t)region;
        current = (uint32_t)region;
        int code = tag >> 2 & 7;
        uint64_t raw = code == 0 ? 2 : 0;
        for (int part = 0; part < length[code]; part++)
            raw |= (uint64_t)byte(&from) << 8 * part;
        regions[current].page += (raw >> 1) ^ -(raw & 1);
        struct touch touch = {.page = (uint32_t)regions[current].page, .region = (uint8_t)current, .kind = tag & 3};
        uint64_t last = touch.page * (uint64_t)PAGE + 1;
        if (touch.kind == READ) {
            touch.within = (uint16_t)within, touch.bytes = bytes, last += within + bytes - 1;
            if (bytes > longest)
                longest = bytes;
        } else if (touch.kind > READ) {
            fail("the file has writes with write(2), which are not played");
        }
        if (last > regions[current].bytes)
            fail("page %u lies outside of region %u", touch.page, current);
        add(touch);
    }
}

static void decode(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about))
        fail("%s: %s", path, strerror(errno));
    size_t size = (size_t)about.st_size;
    unsigned char *all = malloc(size + 1);
    for (size_t got = 0; got < size;) {
        ssize_t more = read(file, all + got, size - got);
        if (more <= 0)
            fail("%s: it cannot be read whole", path);
        got += (size_t)more;
    }
    close(file);
    if (size < 28 || memcmp(all, "ramline touches\n", 16))
        fail("%s is no file of touches", path);
    struct bytes header = {all + 28, all + size};
    if (number(&header) != PAGE)
        fail("%s has pages of another size than 4096", path);
    size_t at = 28 + word(all + 20);
    while (at + 24 <= size && memcmp(all + at, "INDX", 4)) {
        uint32_t long_ = word(all + at + 4), records = word(all + at + 8);
        if (long_ > size - at - 24)
            fail("%s is cut off", path);
        struct bytes contents = {all + at + 24, all + at + 24 + long_};
        if (!memcmp(all + at, "RGNS", 4))
            described(contents, records);
        else
            block(contents, records);
        at += 24 + long_;
    }
    if (at + 24 > size)
        fail("%s is cut off", path);
    free(all);
}

// The play.

static int statistics;
static char text[1 << 14];

static uint64_t counted(const char *name) {
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t before[4];

// What has been counted since the last line.
static void line(const char *name, long round) {
    struct rusage usage;
    struct timespec now;
    ssize_t got = pread(statistics, text + 1, sizeof text - 2, 0);
    if (got < 0 || getrusage(RUSAGE_SELF, &usage))
        fail("the group's memory.stat: %s", strerror(errno));
    text[0] = '\n', text[got + 1] = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t after[4] = {(uint64_t)usage.ru_majflt, counted("\nworkingset_refault_file "), counted("\nworkingset_refault_anon "),
                         (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec};
    char out[200];
    int length = snprintf(out, sizeof out, "%s%ld", name, round);
    for (int n = 0; n < 4; n++) {
        length += snprintf(out + length, sizeof out - (size_t)length, " %llu", (unsigned long long)(after[n] - before[n]));
        before[n] = after[n];
    }
    out[length++] = '\n';
    if (write(1, out, (size_t)length) != length)
        exit(1);
}

static void wait_for_a_line(void) {
    char one;
    while (read(0, &one, 1) == 1 && one != '\n')
        ;
}

static uint64_t state = 256;

// What a page is filled with: noise does not compress, and no two of its pages are alike.
static void fill(unsigned char *page, int noise) {
    if (!noise) {
        memset(page, 0, PAGE);
        return;
    }
    uint64_t *words = (uint64_t *)page;
    for (int n = 0; n < PAGE / 8; n++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        words[n] = state;
    }
}

int main(int count, char **words) {
    if (count < 4)
        fail("usage: player TOUCHES GROUP zeros|noise [FILE...]");
    decode(words[1]);
    int noise = !strcmp(words[3], "noise");
    buffer = calloc(1, longest);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/memory.stat", words[2]);
    statistics = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/cgroup.procs", words[2]);
    int procs = open(path, O_WRONLY | O_CLOEXEC);
    if (statistics < 0 || procs < 0)
        fail("%s: %s", path, strerror(errno));
    // Each function once before it enters: what the first call of one brings (a page of the stack, of the library's tables) is outside then.
    unsigned char stack[16 * PAGE];
    memset(stack, 1, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
    line("warm-up ", 0);
    if (mlockall(MCL_CURRENT))
        fail("its own memory cannot be locked: %s", strerror(errno));
    if (write(procs, "0", 1) != 1)
        fail("%s: %s", path, strerror(errno));
    if (write(1, "ready\n", 6) != 6)
        return 1;
    wait_for_a_line();
    int next = 4;
    for (uint32_t n = 0; n < region_count; n++) {
        struct region *region = &regions[n];
        int flags = region->memory == ANONYMOUS ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | (region->memory == SHARED ? MAP_ANONYMOUS : 0);
        if (region->memory == FILE_BACKED) {
            if (next == count)
                fail("region %u is a file, and none is named for it", n);
            region->file = open(words[next], O_RDONLY | O_CLOEXEC);
            if (region->file < 0)
                fail("%s: %s", words[next], strerror(errno));
            next++;
        }
        int use = region->memory == FILE_BACKED ? PROT_READ : PROT_READ | PROT_WRITE;
        region->map = mmap(NULL, region->bytes, use, flags, region->file, 0);
        if (region->map == MAP_FAILED)
            fail("region %u cannot be mapped: %s", n, strerror(errno));
        if (region->memory != FILE_BACKED)
            madvise(region->map, region->bytes, MADV_NOHUGEPAGE);
    }
    line("begin ", 0);
    long round = -1;
    uint64_t sum = 0;
    for (size_t n = 0; n < touch_count; n++) {
        struct touch touch = touches[n];
        if (touch.kind == ROUND) {
            line(round < 0 ? "fill " : "round ", round < 0 ? 0 : round);
            round = (long)touch.page;
            continue;
        }
        struct region *region = &regions[touch.region];
        volatile unsigned char *page = region->map + (uint64_t)touch.page * PAGE;
        if (touch.kind == LOAD) {
            sum += *page;
        } else if (touch.kind == READ) {
            off_t at = (off_t)touch.page * PAGE + touch.within;
            if (pread(region->file, buffer, touch.bytes, at) != (ssize_t)touch.bytes)
                fail("region %u cannot be read: %s", touch.region, strerror(errno));
            sum += buffer[0];
        } else if (round < 0) {
            fill((unsigned char *)page, noise);
        } else {
            // The page keeps what it was filled with, or nearly: what it compresses to is the same.
            *page = noise ? 1 : 0;
        }
    }
    line("round ", round);
    // What is in its memory must have been read.
    __asm__ volatile("" : : "r"(sum));
    wait_for_a_line();
    return 0;
}
