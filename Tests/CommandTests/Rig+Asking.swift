// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport

extension Rig {
    /// What a server answered.
    struct Answer: Decodable, Sendable {
        let status: Int
        let retryAfter: String?
        let body: String

        var error: WireError? { try? JSONDecoder().decode(WireError.self, from: Data(body.utf8)) }
    }

    /// Asks over HTTP, with headers of any name: `Host` too.
    func ask(
        _ method: String, _ url: String, _ body: String = "", _ headers: [String] = []
    ) async throws -> Answer {
        let script = try PackageRoot.path() + "/Tests/Peers/ask.py"
        let outcome = try await ChildProcess.run(
            [try Self.python(), script, method, url, body] + headers,
            environment: environment, folder: URL(fileURLWithPath: folder.path))
        guard outcome.status == 0 else { throw Unexpected(outcome.errors) }
        return try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
    }
}
