// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// Performs one action for scripts, and prints the journal or the button. Exit
/// codes: 0 done, 1 not done, 64 wrong arguments, 69 the store or the server cannot
/// be reached.
final class Script {
    static let usage = """
        usage: journal                       a menu about the journal `travels`
               journal show | enable | button [JOURNAL]
        """

    private let verb: String
    private let journal: String
    private let store: CommentStore
    private let server: JournalServer

    /// Nil for wrong arguments.
    init?(_ arguments: [String], store: CommentStore, server: JournalServer) {
        guard (1...2).contains(arguments.count),
            ["show", "enable", "button"].contains(arguments[0])
        else { return nil }
        verb = arguments[0]
        journal = arguments.count == 2 ? arguments[1] : "travels"
        self.store = store
        self.server = server
    }

    func start() {
        store.launch { error in
            if let error { self.fail(error) }
            switch self.verb {
            case "show": self.server.journal(self.journal, self.end)
            case "enable": self.store.enableComments(on: self.journal, self.end)
            default:
                print(self.store.button)
                exit(0)
            }
        }
    }

    private func end(_ result: Result<Journal, any Error>) {
        switch result {
        case .success(let journal):
            print("\(journal.id)\t\(journal.words)")
            exit(0)
        case .failure(let error): fail(error)
        }
    }

    private func fail(_ error: any Error) -> Never {
        guard let sentence = Sentences.failure(error) else { exit(1) }
        try? FileHandle.standardError.write(contentsOf: Data("\(sentence)\n".utf8))
        exit(sentence == "Network down?" ? 69 : 1)
    }
}
