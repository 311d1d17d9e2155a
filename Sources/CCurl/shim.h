#include <curl/curl.h>

// Swift cannot call variadic functions: each of these is one of them with one type of value.

static inline CURLcode kymo_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode kymo_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode kymo_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode kymo_curl_set_headers(CURL *handle, struct curl_slist *headers) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

/// The library copies the body.
static inline CURLcode kymo_curl_set_body(CURL *handle, const void *bytes, size_t size) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    return code ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes);
}

static inline CURLcode kymo_curl_set_callbacks(
    CURL *handle, curl_write_callback body, curl_write_callback header, curl_prereq_callback begin, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, begin);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_PREREQDATA, context);
    return code;
}

static inline CURLcode kymo_curl_get_number(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode kymo_curl_multi_set(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
