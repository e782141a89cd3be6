#pragma once

/* Its checks need constant options. */
#ifndef CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_TYPECHECK
#endif
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x074400
#error "libcurl 7.68 or newer is needed: curl_multi_wakeup."
#endif

/* Swift does not import functions with a variable number of arguments. */

typedef size_t (*CCurl_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode CCurl_setNumber(CURL *handle, CURLoption option, long value) { return curl_easy_setopt(handle, option, value); }

static inline CURLcode CCurl_setSize(CURL *handle, CURLoption option, curl_off_t value) { return curl_easy_setopt(handle, option, value); }

/* libcurl copies the text. */
static inline CURLcode CCurl_setText(CURL *handle, CURLoption option, const char *value) { return curl_easy_setopt(handle, option, value); }

/* libcurl does not copy the list. */
static inline CURLcode CCurl_setHeaders(CURL *handle, struct curl_slist *value) { return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, value); }

static inline CURLcode CCurl_setCallback(
    CURL *handle, CURLoption function, CCurl_callback value, CURLoption data, void *context) {
    CURLcode status = curl_easy_setopt(handle, function, value);
    return status == CURLE_OK ? curl_easy_setopt(handle, data, context) : status;
}

static inline int CCurl_failToSeek(void *context, curl_off_t offset, int origin) { return CURL_SEEKFUNC_FAIL; }

/* A body that was sent, even in part, is not sent again on another connection. */
static inline CURLcode CCurl_neverSendAgain(CURL *handle) { return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, CCurl_failToSeek); }

static inline CURLcode CCurl_allowHTTPOnly(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* A transfer that is cancelled does not wait for the search of the server's name; older versions do. */
static inline CURLcode CCurl_endQuickly(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    return CURLE_OK;
#endif
}

/* Returns the status of the answer whose head is being received. */
static inline long CCurl_status(CURL *handle) {
    long status = 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

static inline CURLMcode CCurl_setMultiNumber(CURLM *multi, CURLMoption option, long value) { return curl_multi_setopt(multi, option, value); }

/* Returns a transfer that has ended, with its result; NULL if there is none. */
static inline CURL *CCurl_nextEnded(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
