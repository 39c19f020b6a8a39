// SPDX-License-Identifier: Apache-2.0
// libarchive. Its constants are macros with casts, which Swift does not import,
// so they are functions here.
#ifndef SHOPKEEPER_CARCHIVE_H
#define SHOPKEEPER_CARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

/// The character set of a thread. libarchive converts an entry's name into it,
/// and would replace letters that the C locale of a plain program lacks.
typedef struct {
    locale_t before;
    locale_t own;
} carchive_locale;

/// Sets UTF-8 for the calling thread. `own` is null if the system has no
/// locale for it.
static inline carchive_locale carchive_enter_utf8(void) {
    carchive_locale locale = {(locale_t)0, newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)};
    if (locale.own) locale.before = uselocale(locale.own);
    return locale;
}

static inline void carchive_leave_utf8(carchive_locale locale) {
    if (!locale.own) return;
    uselocale(locale.before);
    freelocale(locale.own);
}

static inline int carchive_is_file(struct archive_entry *entry) {
    return archive_entry_filetype(entry) == AE_IFREG;
}

static inline int carchive_is_folder(struct archive_entry *entry) {
    return archive_entry_filetype(entry) == AE_IFDIR;
}

static inline int carchive_is_link(struct archive_entry *entry) {
    return archive_entry_filetype(entry) == AE_IFLNK || archive_entry_hardlink(entry) != NULL;
}

static inline void carchive_set_file(struct archive_entry *entry) {
    archive_entry_set_filetype(entry, AE_IFREG);
}

/// Of the C library, which declares it for GNU sources only.
extern int syncfs(int file);

#endif
