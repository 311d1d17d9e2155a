#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/// The names that are looked for. The number is libcurl's ABI, the same since 2006.
#define LIBRARY "libcurl.so.4"

/// Every function that is called, by its name behind `curl_`.
#define FUNCTIONS(EACH) \
    EACH(global_init) EACH(version) EACH(easy_init) EACH(easy_cleanup) EACH(easy_strerror) EACH(easy_setopt) \
    EACH(easy_getinfo) \
    EACH(slist_append) EACH(slist_free_all) EACH(multi_init) EACH(multi_cleanup) EACH(multi_add_handle) \
    EACH(multi_remove_handle) EACH(multi_perform) EACH(multi_poll) EACH(multi_wakeup) EACH(multi_info_read) \
    EACH(multi_setopt) EACH(multi_strerror)

/// What a function's pointer is: libcurl's own declaration says it.
#define POINTER(name) __typeof__(curl_##name) *name;
static struct { FUNCTIONS(POINTER) } library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

static void note(const char *text) { snprintf(problem, sizeof problem, "%s", text ? text : "unknown"); }

static void load(void) {
    // Local: nobody else's functions are to be taken for libcurl's, or the other way round.
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        note(dlerror());
        return;
    }
#define FIND(name) \
    library.name = (__typeof__(library.name))dlsym(handle, "curl_" #name); \
    if (!library.name) { \
        note(LIBRARY " has no curl_" #name); \
        return; \
    }
    FUNCTIONS(FIND)
    if (library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) note(LIBRARY " cannot be initialised");
}

const char *kymo_curl_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

const char *kymo_curl_version(void) { return library.version(); }

CURL *kymo_curl_easy_init(void) { return library.easy_init(); }

void kymo_curl_easy_cleanup(CURL *handle) { library.easy_cleanup(handle); }

const char *kymo_curl_easy_text(CURLcode code) { return library.easy_strerror(code); }

struct curl_slist *kymo_curl_slist_append(struct curl_slist *list, const char *text) {
    return library.slist_append(list, text);
}

void kymo_curl_slist_free_all(struct curl_slist *list) { library.slist_free_all(list); }

CURLM *kymo_curl_multi_init(void) { return library.multi_init(); }

CURLMcode kymo_curl_multi_cleanup(CURLM *multi) { return library.multi_cleanup(multi); }

CURLMcode kymo_curl_multi_add_handle(CURLM *multi, CURL *handle) { return library.multi_add_handle(multi, handle); }

CURLMcode kymo_curl_multi_remove_handle(CURLM *multi, CURL *handle) {
    return library.multi_remove_handle(multi, handle);
}

CURLMcode kymo_curl_multi_perform(CURLM *multi, int *running) { return library.multi_perform(multi, running); }

CURLMcode kymo_curl_multi_poll(CURLM *multi, int milliseconds) {
    return library.multi_poll(multi, NULL, 0, milliseconds, NULL);
}

CURLMcode kymo_curl_multi_wakeup(CURLM *multi) { return library.multi_wakeup(multi); }

CURLMsg *kymo_curl_multi_info_read(CURLM *multi, int *left) { return library.multi_info_read(multi, left); }

const char *kymo_curl_multi_text(CURLMcode code) { return library.multi_strerror(code); }

CURLcode kymo_curl_set_number(CURL *handle, CURLoption option, long value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode kymo_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode kymo_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return library.easy_setopt(handle, option, value);
}

CURLcode kymo_curl_set_headers(CURL *handle, struct curl_slist *headers) {
    return library.easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

CURLcode kymo_curl_set_body(CURL *handle, const void *bytes, size_t size) {
    CURLcode code = library.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    return code ? code : library.easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

CURLcode kymo_curl_set_callbacks(
    CURL *handle, curl_write_callback body, curl_write_callback header, curl_prereq_callback begin, void *context) {
    CURLcode code = library.easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (!code) code = library.easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (!code) code = library.easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    if (!code) code = library.easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (!code) code = library.easy_setopt(handle, CURLOPT_PREREQFUNCTION, begin);
    if (!code) code = library.easy_setopt(handle, CURLOPT_PREREQDATA, context);
    return code;
}

const char *kymo_curl_certificate(CURL *handle, int place) {
    struct curl_certinfo *chain = NULL;
    if (library.easy_getinfo(handle, CURLINFO_CERTINFO, &chain) || !chain || place >= chain->num_of_certs) return NULL;
    for (struct curl_slist *field = chain->certinfo[place]; field; field = field->next)
        if (!strncmp(field->data, "Cert:", 5)) return field->data + 5;
    return NULL;
}

CURLcode kymo_curl_get_number(CURL *handle, CURLINFO info, long *value) {
    return library.easy_getinfo(handle, info, value);
}

CURLMcode kymo_curl_multi_set(CURLM *multi, CURLMoption option, long value) {
    return library.multi_setopt(multi, option, value);
}
