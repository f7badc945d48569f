/* Partitions that are files of a folder, called as their labels. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int esp_err_t;
#define ESP_OK 0
#define ESP_FAIL (-1)

typedef struct { FILE *file; } esp_partition_t;
typedef enum { ESP_PARTITION_TYPE_DATA = 1 } esp_partition_type_t;
typedef enum { ESP_PARTITION_SUBTYPE_ANY = 0xff } esp_partition_subtype_t;
typedef enum { ESP_PARTITION_MMAP_DATA } esp_partition_mmap_memory_t;
typedef uint32_t esp_partition_mmap_handle_t;

static inline const esp_partition_t *esp_partition_find_first(
    esp_partition_type_t type, esp_partition_subtype_t subtype, const char *label)
{
    static esp_partition_t found;
    char path[400];
    snprintf(path, sizeof(path), "%s/%s.bin", STAND_IN_FLASH, label);
    found.file = fopen(path, "rb");
    return type == ESP_PARTITION_TYPE_DATA && subtype == ESP_PARTITION_SUBTYPE_ANY && found.file ? &found : NULL;
}

static inline esp_err_t esp_partition_read(const esp_partition_t *part, size_t at, void *to, size_t bytes)
{
    return fseek(part->file, (long)at, SEEK_SET) == 0 && fread(to, 1, bytes, part->file) == bytes ? ESP_OK : ESP_FAIL;
}

static inline esp_err_t esp_partition_mmap(const esp_partition_t *part, size_t at, size_t bytes,
    esp_partition_mmap_memory_t memory, const void **to, esp_partition_mmap_handle_t *handle)
{
    void *mapped = memory == ESP_PARTITION_MMAP_DATA ? aligned_alloc(65536, (bytes + 65535) / 65536 * 65536) : NULL;
    *to = mapped;
    *handle = 1;
    return mapped != NULL ? esp_partition_read(part, at, mapped, bytes) : ESP_FAIL;
}
