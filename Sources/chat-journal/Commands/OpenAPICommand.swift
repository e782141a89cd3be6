#if Server
    import ChatServer
#endif

/// The command for generators of clients, which then need no server.
extension ToolCommand {
    static let openapi = ToolCommand(
        spec: CommandSpec(
            "openapi", "prints the OpenAPI document of the API that serve has", positionals: [],
            discussion: """
                The same as /v1/openapi.json of a server. Needs a build with the package trait Server.
                """)
    ) { arguments, output in
        #if Server
            try output.write(String(decoding: ChatServer.openAPIDocument, as: UTF8.self))
            return true
        #else
            throw arguments.error("this build has no server: build it with 'swift build --traits Server'")
        #endif
    }
}
