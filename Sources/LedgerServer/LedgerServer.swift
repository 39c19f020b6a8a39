// SPDX-License-Identifier: Apache-2.0

public import HTTPShell
public import Ledger
public import Logging

/// Where a ledger's server listens, and its limits.
public typealias LedgerServerConfiguration = ShellConfiguration
/// What a ledger's server needs from outside.
public typealias LedgerServerPorts = ShellPorts

/// The HTTP shell of a ledger. It parses and authenticates requests, calls a
/// use case of the ledger, and answers.
public struct LedgerServer: Sendable {
    private let ledger: Ledger
    private let shell: HTTPShell

    public init(
        ledger: Ledger, configuration: LedgerServerConfiguration, ports: LedgerServerPorts,
        logger: Logger
    ) {
        self.ledger = ledger
        shell = HTTPShell(
            handlers: [LedgerDoor(ledger: ledger)], words: ErrorResponse.words,
            configuration: configuration, ports: ports, logger: logger)
    }

    /// Serves until SIGTERM or SIGINT arrives or the calling task is cancelled.
    /// Then it gives running requests the configured time to end, closes the
    /// ledger and returns.
    ///
    /// `onReady` receives the port once the server listens on it. Throws
    /// ``WireError`` `cannotListen` if it cannot listen. The ledger is closed
    /// in this case too.
    public func run(onReady: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let ledger = ledger
        try await shell.run { ports in
            await onReady(ports.main)
        } close: {
            await ledger.close()
        }
    }
}
