/* Stands in for MicroPython's py/obj.h, py/objarray.h and py/runtime.h: the declarations that generated user modules use,
 * with bodies small enough to run a module on a host.  Written for these tests from the documented interface; it is no part of
 * MicroPython, and a module that compiles with it has not been built by MicroPython's own build.
 */
#ifndef STAND_IN_PY_OBJ_H
#define STAND_IN_PY_OBJ_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct stand_in_obj {
    char typecode;
    size_t items;
    void *data;
} stand_in_obj;

typedef intptr_t mp_int_t;
typedef void *mp_obj_t;
typedef const void *mp_const_obj_t;
typedef const void *mp_rom_obj_t;
typedef struct mp_obj_type_t {
    const char *name;
} mp_obj_type_t;
typedef struct mp_obj_base_t {
    const mp_obj_type_t *type;
} mp_obj_base_t;
typedef struct mp_rom_map_elem_t {
    mp_rom_obj_t key;
    mp_rom_obj_t value;
} mp_rom_map_elem_t;
typedef struct mp_obj_dict_t {
    mp_obj_base_t base;
    size_t used;
    const mp_rom_map_elem_t *table;
} mp_obj_dict_t;
typedef struct mp_obj_module_t {
    mp_obj_base_t base;
    mp_obj_dict_t *globals;
} mp_obj_module_t;
typedef struct mp_obj_fun_t {
    mp_obj_base_t base;
    mp_obj_t (*call0)(void);
    mp_obj_t (*call1)(mp_obj_t);
} mp_obj_fun_t;

static const mp_obj_type_t mp_type_module = {"module"}, mp_type_fun = {"function"}, mp_type_dict = {"dict"};
static const mp_obj_type_t mp_type_RuntimeError = {"RuntimeError"}, mp_type_IndexError = {"IndexError"};

#define MP_OBJ_NEW_SMALL_INT(value) ((mp_obj_t)(((intptr_t)(value) * 2) | 1))
#define mp_const_none ((mp_obj_t)0)
#define MP_ERROR_TEXT(text) text
#define MP_ROM_QSTR(word) (word)
#define MP_ROM_PTR(object) (object)
#define MP_OBJ_ARRAY_TYPECODE_FLAG_RW 0x80
#define MP_DEFINE_CONST_FUN_OBJ_0(name, function) const mp_obj_fun_t name = {{&mp_type_fun}, function, NULL}
#define MP_DEFINE_CONST_FUN_OBJ_1(name, function) const mp_obj_fun_t name = {{&mp_type_fun}, NULL, function}
#define MP_DEFINE_CONST_DICT(name, entries) \
    const mp_obj_dict_t name = {{&mp_type_dict}, sizeof(entries) / sizeof((entries)[0]), entries}
#define MP_REGISTER_MODULE(word, module) const mp_obj_module_t *stand_in_module = &(module)

extern jmp_buf stand_in_raised;
extern char stand_in_text[100];

static inline mp_int_t mp_obj_get_int(mp_const_obj_t object)
{
    return ((intptr_t)object - 1) / 2;
}

/* The newest two views; a view is read before more of them are made. */
static inline mp_obj_t mp_obj_new_memoryview(uint8_t typecode, size_t items, void *data)
{
    static stand_in_obj views[2];
    static int at;
    at = 1 - at;
    views[at].typecode = (char)typecode;
    views[at].items = items;
    views[at].data = data;
    return &views[at];
}

#define mp_raise_msg_varg(kind, format, text) \
    (snprintf(stand_in_text, sizeof(stand_in_text), "%s: " format, (kind)->name, text), longjmp(stand_in_raised, 1))
#define mp_raise_msg(kind, text) mp_raise_msg_varg(kind, "%s", text)

#endif
