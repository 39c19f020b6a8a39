// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Logging

/// A server with nothing but the HTTP library, to compare with.
enum BareServer {
    /// Answers `GET` of one path until the process is killed; prints the port when it
    /// listens.
    static func serve(
        _ path: String, _ answer: @escaping @Sendable () async -> Response
    ) async throws {
        let router = Router()
        router.get(RouterPath(path)) { _, _ in await answer() }
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("\(port)\n".utf8))
            }, logger: logger)
        try await application.run()
    }
}
