#pragma once

#include <microhttpd.h>

/* Swift cannot call functions with a variable number of arguments. */

struct CMHD_Callbacks {
    MHD_AcceptPolicyCallback accept;
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *(*target)(void *context, const char *uri, struct MHD_Connection *connection);
    size_t (*unescape)(void *context, struct MHD_Connection *connection, char *text);
};

/* Starts a daemon with one thread on a listening socket, which then belongs to the daemon. */
static inline struct MHD_Daemon *CMHD_start(
    int listenSocket, const struct CMHD_Callbacks *callbacks, void *context, unsigned int connectionLimit, size_t connectionMemory,
    unsigned int timeoutSeconds) {
    return MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0, callbacks->accept, context, callbacks->handle, context,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listenSocket, MHD_OPTION_CONNECTION_LIMIT, connectionLimit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connectionMemory, MHD_OPTION_CONNECTION_TIMEOUT, timeoutSeconds,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->completed, context, MHD_OPTION_NOTIFY_CONNECTION, callbacks->connection, context,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks->target, context, MHD_OPTION_UNESCAPE_CALLBACK, callbacks->unescape, context,
        MHD_OPTION_STRICT_FOR_CLIENT, (int)1, MHD_OPTION_END);
}

static inline int CMHD_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}

static inline void *CMHD_socketContext(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline const struct sockaddr *CMHD_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/* The constants of closed enumerations, by names that do not depend on the importer of Swift. */
static inline enum MHD_Result CMHD_yes(void) { return MHD_YES; }
static inline enum MHD_Result CMHD_no(void) { return MHD_NO; }
static inline int CMHD_isStart(enum MHD_ConnectionNotificationCode code) { return code == MHD_CONNECTION_NOTIFY_STARTED; }

static inline int CMHD_headers(struct MHD_Connection *connection, MHD_KeyValueIterator iterator, void *context) {
    return MHD_get_connection_values(connection, MHD_HEADER_KIND, iterator, context);
}

static inline struct MHD_Response *CMHD_response(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

static inline int CMHD_closeUpgraded(struct MHD_UpgradeResponseHandle *handle) {
    return MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE) == MHD_YES;
}
