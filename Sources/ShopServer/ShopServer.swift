// SPDX-License-Identifier: Apache-2.0

public import HTTPShell
public import Logging
public import Shop

/// Where a store's server listens, and its limits.
public typealias ShopServerConfiguration = ShellConfiguration
/// What a store's server needs from outside.
public typealias ShopServerPorts = ShellPorts

/// A store behind HTTP: the device protocol, Apple's server protocol, and the
/// operator and control doors. A shell: it parses, authenticates, calls a
/// use case of the store, and answers.
///
/// ```swift
/// let server = ShopServer(
///     store: store, configuration: try ShopServerConfiguration(port: 0), ports: ports,
///     logger: logger)
/// try await server.run { port in print("listening on port \(port)") }
/// ```
public struct ShopServer: Sendable {
    private let store: Store
    private let shell: HTTPShell

    public init(
        store: Store, configuration: ShopServerConfiguration, route: RealmRoute = RealmRoute(),
        ports: ShopServerPorts, logger: Logger
    ) {
        self.store = store
        var configuration = configuration
        for name in route.names { configuration.names.add(name) }
        shell = HTTPShell(
            handler: Responder(store: store, route: route), configuration: configuration,
            ports: ports,
            logger: logger)
    }

    /// Serves, and does what falls due, until SIGTERM or SIGINT arrives or the calling task is
    /// cancelled. Then it takes no more connections, answers those who wait
    /// for changes, lets requests under way end within the configured time,
    /// closes the store and returns.
    ///
    /// `onReady` is told the port once the server listens on it. Throws
    /// ``WireError`` `cannotListen` where it cannot, with the store closed too.
    public func run(onReady: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        try await run { port, _ in await onReady(port) }
    }

    /// The same, for a server whose realms have ports of their own: a
    /// listener's name is its realm's.
    public func run(
        onReady: @escaping @Sendable (_ port: Int, _ realms: [String: Int]) async -> Void
    ) async throws {
        let store = store
        let working = Task { await store.work() }
        try await shell.run(onReady: onReady) {
            working.cancel()
            await working.value
            await store.close()
        }
    }
}
