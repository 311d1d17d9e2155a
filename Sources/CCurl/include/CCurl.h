#ifndef CCURL_H
#define CCURL_H

// libcurl, loaded when a FHIR server is configured and not before: it brings some twenty libraries with it, which cost
// each start of a process 4 ms and 4 MiB. The functions are libcurl's of the same name; none may be called before
// `kymo_curl_load` has given NULL.

#include <curl/curl.h>

/// Loads and initialises libcurl, once in a process. Gives NULL, or why it cannot be used: a text that lives on.
const char *kymo_curl_load(void);

/// Versions of the library and of those that it uses.
const char *kymo_curl_version(void);

CURL *kymo_curl_easy_init(void);
void kymo_curl_easy_cleanup(CURL *handle);
const char *kymo_curl_easy_text(CURLcode code);
struct curl_slist *kymo_curl_slist_append(struct curl_slist *list, const char *text);
void kymo_curl_slist_free_all(struct curl_slist *list);

CURLM *kymo_curl_multi_init(void);
CURLMcode kymo_curl_multi_cleanup(CURLM *multi);
CURLMcode kymo_curl_multi_add_handle(CURLM *multi, CURL *handle);
CURLMcode kymo_curl_multi_remove_handle(CURLM *multi, CURL *handle);
CURLMcode kymo_curl_multi_perform(CURLM *multi, int *running);
CURLMcode kymo_curl_multi_poll(CURLM *multi, int milliseconds);
CURLMcode kymo_curl_multi_wakeup(CURLM *multi);
CURLMsg *kymo_curl_multi_info_read(CURLM *multi, int *left);
const char *kymo_curl_multi_text(CURLMcode code);

// Swift cannot call variadic functions: each of these is one of them with one type of value.

CURLcode kymo_curl_set_number(CURL *handle, CURLoption option, long value);
CURLcode kymo_curl_set_text(CURL *handle, CURLoption option, const char *value);
CURLcode kymo_curl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode kymo_curl_set_headers(CURL *handle, struct curl_slist *headers);
/// The library copies the body.
CURLcode kymo_curl_set_body(CURL *handle, const void *bytes, size_t size);
CURLcode kymo_curl_set_callbacks(
    CURL *handle, curl_write_callback body, curl_write_callback header, curl_prereq_callback begin, void *context);
/// The certificate in PEM at `place` of the chain that a server has shown on a connection made for this transfer, its
/// own first; NULL behind the last one, and without CURLOPT_CERTINFO. Lives until the handle is cleaned up.
const char *kymo_curl_certificate(CURL *handle, int place);
CURLcode kymo_curl_get_number(CURL *handle, CURLINFO info, long *value);
CURLMcode kymo_curl_multi_set(CURLM *multi, CURLMoption option, long value);

#endif
