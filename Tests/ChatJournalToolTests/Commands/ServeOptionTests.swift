#if Server
    import Testing

    /// The options of `serve` that name files.
    @Suite struct ServeOptionTests {
        /// A FIFO is not waited for, and a link without a target is no missing text.
        @Test(arguments: ["mkfifo", "mkdir", "ln -s missing", "ln -s /dev/zero", "head -c 65537 /dev/zero >"])
        func aTextOfTheOperatorIsARegularFile(make: String) throws {
            let folder = try ToolProcess.Folder()
            #expect(
                try ToolProcess.shell("mkdir \"$1/about\" && \(make) \"$1/about/privacy.txt\"", [folder.path]).status
                    == 0)
            let outcome = try ToolProcess.run([
                "serve", folder.path + "/J", "--accounts", folder.path + "/A", "--listen", "127.0.0.1:0", "--mail",
                folder.path,
                "--about", folder.path + "/about",
            ])
            #expect(
                outcome.status == 64 && outcome.error.contains("--about") && outcome.error.contains("privacy.txt"),
                "\(outcome.error)")
            #expect(outcome.output == "")
        }
    }
#endif
