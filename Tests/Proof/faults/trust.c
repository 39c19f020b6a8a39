// SPDX-License-Identifier: Apache-2.0
// Preloaded into a ledger of the proof: it trusts the certificate of the proof's own server
// for webhooks (`hooks.py`) in place of the machine's. A ledger that books production sends to
// no other than an encrypted address, and checks its certificate.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

/// CURLOPT_CAINFO.
enum { ROOTS = 10065 };

void *curl_easy_init(void) {
    static void *(*next)(void);
    static int (*set)(void *, int, ...);
    if (!next) next = (void *(*)(void))dlsym(RTLD_NEXT, "curl_easy_init");
    if (!set) set = (int (*)(void *, int, ...))dlsym(RTLD_NEXT, "curl_easy_setopt");
    void *easy = next();
    const char *path = getenv("PROOF_ROOTS");
    if (easy && path) set(easy, ROOTS, path);
    return easy;
}
