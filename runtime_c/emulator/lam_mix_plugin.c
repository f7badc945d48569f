/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * A plugin of QEMU that says how often each instruction ran, by layer.
 *
 *     -plugin ./lam_mix.so,out=FILE,marks=ADDRESS,layers=N
 *
 * The program stores to the byte at ADDRESS + i: with i up to N, what follows belongs to i (0 is no layer); N + 1 starts
 * the counts afresh, N + 2 ends them.  FILE gets a line `i address times jumps` for each instruction (address in
 * hexadecimal); `jumps` is how often another instruction than the next one came after it.
 *
 * The declarations are QEMU's plugin interface, as far as it is used, as its documentation (docs/devel/tcg-plugins) has it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { CALLBACK_READS_NO_REGISTERS = 0, MEMORY_WRITES = 2 };

typedef void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*executed)(unsigned int cpu, void *data);
typedef void (*accessed)(unsigned int cpu, uint32_t info, uint64_t address, void *data);
typedef void (*ended)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, executed call, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, accessed call, int flags, int rw, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended call, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#ifndef LAM_PLUGIN_VERSION
#define LAM_PLUGIN_VERSION 1
#endif
__attribute__((visibility("default"))) int qemu_plugin_version = LAM_PLUGIN_VERSION;
__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

/* A run of instructions that are executed one after another; counts[2 * i] for layer i, [2 * i + 1] its jumps at the end. */
struct block {
    struct block *next;
    uint64_t *addresses;
    size_t instructions;
    uint64_t begin, last, end;
    uint64_t *counts;
};

static struct block *blocks, *before;
static uint64_t marks, layers, layer;
static bool counting;
static const char *out;

static void *need(size_t count, size_t size)
{
    void *found = calloc(count, size);
    if (found == NULL) {
        fputs("lam_mix: no memory\n", stderr);
        exit(1);
    }
    return found;
}

/* Whether `b` does not begin behind the last instruction of `a`, which some emulators say is longer than it is. */
static bool jumps_to(const struct block *a, const struct block *b)
{
    return b->begin <= a->last || b->begin > a->end;
}

static void on_executed(unsigned int cpu, void *data)
{
    struct block *b = data;
    if (before != NULL && counting) {
        before->counts[2 * layer + 1] += jumps_to(before, b);
    }
    b->counts[2 * layer] += counting;
    before = b;
    (void)cpu;
}

static void on_written(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
    const uint64_t mark = address - marks;
    if (mark <= layers) {
        layer = mark;
    } else if (mark == layers + 1) {
        for (struct block *b = blocks; b != NULL; b = b->next) {
            memset(b->counts, 0, 2 * (layers + 1) * sizeof *b->counts);
        }
        layer = 0;
        counting = true;
    } else if (mark == layers + 2) {
        counting = false;
    }
    (void)cpu;
    (void)info;
    (void)data;
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t n = qemu_plugin_tb_n_insns(tb);
    struct block *b = need(1, sizeof *b);
    b->addresses = need(n, sizeof *b->addresses);
    b->counts = need(2 * (layers + 1), sizeof *b->counts);
    b->instructions = n;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        b->addresses[i] = qemu_plugin_insn_vaddr(insn);
        b->end = b->addresses[i] + qemu_plugin_insn_size(insn);
        qemu_plugin_register_vcpu_mem_cb(insn, on_written, CALLBACK_READS_NO_REGISTERS, MEMORY_WRITES, NULL);
    }
    b->begin = b->addresses[0];
    b->last = b->addresses[n - 1];
    b->next = blocks;
    blocks = b;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_executed, CALLBACK_READS_NO_REGISTERS, b);
    (void)id;
}

static void on_exit(qemu_plugin_id_t id, void *data)
{
    FILE *file = fopen(out, "w");
    if (file == NULL) {
        fputs("lam_mix: cannot write\n", stderr);
        return;
    }
    for (struct block *b = blocks; b != NULL; b = b->next) {
        for (uint64_t i = 0; i <= layers; i++) {
            for (size_t k = 0; k < b->instructions && b->counts[2 * i] != 0; k++) {
                const uint64_t jumps = k + 1 == b->instructions ? b->counts[2 * i + 1] : 0;
                fprintf(file, "%" PRIu64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", i, b->addresses[k], b->counts[2 * i], jumps);
            }
        }
    }
    fclose(file);
    (void)id;
    (void)data;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0) {
            out = argv[i] + 4;
        } else if (strncmp(argv[i], "marks=", 6) == 0) {
            marks = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "layers=", 7) == 0) {
            layers = strtoull(argv[i] + 7, NULL, 0);
        }
    }
    if (out == NULL || marks == 0) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_atexit_cb(id, on_exit, NULL);
    (void)info;
    return 0;
}
