// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// The app on a terminal: a journal and one button.
final class Screen {
    private let store: CommentStore
    private let server: JournalServer
    private let journal: String

    init(store: CommentStore, server: JournalServer, journal: String) {
        self.store = store
        self.server = server
        self.journal = journal
    }

    func start() {
        store.launch { error in
            self.complain(error)
            self.show()
        }
    }

    private func show() {
        server.journal(journal) { result in
            switch result {
            case .success(let journal): print("\nComments on \(journal.id): \(journal.words)")
            case .failure(let error): self.complain(error)
            }
            print("  b \(self.store.button) · q quits")
            self.read()
        }
    }

    private func complain(_ error: (any Error)?) {
        if let sentence = error.flatMap(Sentences.failure) { print("\n\(sentence)") }
    }

    /// Reads on another thread, because the main thread must be free for callbacks.
    private func read() {
        DispatchQueue.global().async {
            let line = readLine()
            DispatchQueue.main.async { self.obey(line) }
        }
    }

    private func obey(_ line: String?) {
        switch line?.trimmingCharacters(in: .whitespaces) {
        case nil, "q": exit(0)
        case "b":
            store.enableComments(on: journal) { result in
                if case .failure(let error) = result { self.complain(error) }
                self.show()
            }
        default: show()
        }
    }
}
