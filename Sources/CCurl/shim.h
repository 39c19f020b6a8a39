// SPDX-License-Identifier: Apache-2.0
// libcurl, with its functions of open-ended arguments spelled out by type:
// Swift cannot call them otherwise. The names of functions stand in brackets
// to pass over curl's checking macros, which want constants.
#ifndef SHOPKEEPER_CCURL_H
#define SHOPKEEPER_CCURL_H

#include <curl/curl.h>

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *headers) {
    return (curl_easy_setopt)(easy, CURLOPT_HTTPHEADER, headers);
}

/// CURLOPT_WRITEFUNCTION or CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_writer(
    CURL *easy, CURLoption option, curl_write_callback writer) {
    return (curl_easy_setopt)(easy, option, writer);
}

static inline CURLcode ccurl_set_opener(CURL *easy, curl_opensocket_callback opener) {
    return (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, opener);
}

/// Roots to trust instead of the machine's, in PEM; copied.
static inline CURLcode ccurl_set_roots(CURL *easy, void *bytes, size_t count) {
    struct curl_blob blob = {bytes, count, CURL_BLOB_COPY};
    return (curl_easy_setopt)(easy, CURLOPT_CAINFO_BLOB, &blob);
}

/// HTTP and HTTPS alone, also behind a redirect.
static inline CURLcode ccurl_set_web_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    CURLcode code = (curl_easy_setopt)(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (code != CURLE_OK) return code;
    return (curl_easy_setopt)(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    long web = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    CURLcode code = (curl_easy_setopt)(easy, CURLOPT_PROTOCOLS, web);
    if (code != CURLE_OK) return code;
    return (curl_easy_setopt)(easy, CURLOPT_REDIR_PROTOCOLS, web);
#endif
}

/// Ending a transfer does not wait for a name server that does not answer.
static inline CURLcode ccurl_set_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return (curl_easy_setopt)(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
    return CURLE_OK;
#endif
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

static inline CURLcode ccurl_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

#endif
