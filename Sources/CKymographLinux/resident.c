#define _GNU_SOURCE
#include "CKymographLinux.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/// Whether the loader has written to what is otherwise never written.
static int has_text_relocations(const struct dl_phdr_info *object) {
    for (int number = 0; number < object->dlpi_phnum; number++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[number];
        if (segment->p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 1;
            if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)) return 1;
        }
    }
    return 0;
}

static int forget_object(struct dl_phdr_info *object, size_t size, void *page_size) {
    (void)size;
    // The program has no name, libraries have a path; the kernel's own object has neither file nor path.
    if (object->dlpi_name[0] != '\0' && object->dlpi_name[0] != '/') return 0;
    if (has_text_relocations(object)) return 0;
    uintptr_t mask = *(const uintptr_t *)page_size - 1;
    for (int number = 0; number < object->dlpi_phnum; number++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[number];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        uintptr_t first = object->dlpi_addr + segment->p_vaddr;
        uintptr_t end = first + segment->p_memsz;
        first &= ~mask;
        // Nobody can have written there: each page comes back from the file when it is needed.
        madvise((void *)first, ((end + mask) & ~mask) - first, MADV_DONTNEED);
    }
    return 0;
}

void kymo_memory_forget_unused(void) {
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    malloc_trim(0);
    dl_iterate_phdr(forget_object, &page_size);
}
