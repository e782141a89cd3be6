#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues

    // What is written: messages, replies and edits. None of it waits for the network.
    extension ScreenModel {
        /// Takes the line, and sends it as a message, a reply or an edit, or carries out its
        /// command.
        ///
        /// A line that is not accepted is put back, with what it replaces.
        func submit() {
            let (draft, place, text) = (Draft(editor: editor, target: target), place, editor.text)
            do {
                if let (command, argument) = try SlashCommand.parse(text) {
                    editor.set("")
                    let action = keeping(draft, of: place) { try await self.run(command, argument, from: place) }
                    return command.asksServer ? performConcurrently(action) : performInOrder(action)
                }
                // Two slashes begin a text with one.
                let body = text.hasPrefix("//") ? String(text.dropFirst()) : text
                let action = try writing(body)
                editor.set("")
                (target, selectedPost, anchor) = (nil, nil, nil)
                performInOrder(keeping(draft, of: place, action))
            } catch { feedback = Self.sentence(of: error) }
        }

        /// Returns an action that puts a line back if it fails, or else shows the line with its
        /// error.
        private func keeping(_ draft: Draft, of place: Place, _ action: @escaping Action) -> Action {
            {
                do { try await action() } catch {
                    if self.putBack(draft, at: place) { throw error }
                    throw ArgumentError("\(Self.sentence(of: error)) Not sent: \(draft.editor.text)")
                }
            }
        }

        /// Returns what sends a text from the place that is shown.
        private func writing(_ body: String) throws -> Action {
            if let target { return edit(target, body) }
            switch place {
            case .timeline(let thread):
                return { try await self.chat.post(body, in: thread) }
            case .replies(let message, _): return { try await self.chat.reply(body, to: message) }
            default: throw ArgumentError("Choose a thread first, with Enter. Commands begin with a slash: /help.")
            }
        }

        /// Answers the selected message, or shows its replies.
        func reply(_ text: String) async throws {
            let thread = try requireThread()
            guard case .timeline = place else { throw ArgumentError("Write the reply without a command.") }
            let post = try requirePost()
            guard !text.isEmpty else { return show(.replies(post.message, thread), root: post) }
            try await chat.reply(text, to: post.message)
        }

        // MARK: Editing

        /// Puts the text of the selected or last own message into the line, or replaces it.
        func beginEdit(_ text: String) async throws {
            let next = Target(post: try requireOwnPost(), thread: try requireThread())
            guard text.isEmpty else { return try await edit(next, text)() }
            guard editor.isEmpty else { throw ArgumentError("Send the line or clear it before you edit another text.") }
            let body = next.post.body ?? ""
            target = next
            editor.set(body.hasPrefix("/") ? "/" + body : body)
        }

        /// Returns what replaces the text of a post.
        private func edit(_ target: Target, _ body: String) -> Action {
            { try await self.chat.edit(target.post, body: body, mentions: []) }
        }
    }
#endif
