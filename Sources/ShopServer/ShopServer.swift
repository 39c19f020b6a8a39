// SPDX-License-Identifier: Apache-2.0

public import HTTPShell
public import Logging
public import Shop
import StoreWire
import WireErrors

/// Where a store's server listens, and its limits.
public typealias ShopServerConfiguration = ShellConfiguration
/// What a store's server needs from outside.
public typealias ShopServerPorts = ShellPorts

/// The HTTP shell of a store: the device protocol, Apple's server protocol, and
/// the operator and control doors. It parses and authenticates requests, calls
/// a use case of the store, and answers.
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
        if configuration.secure != nil {
            for name in OfficialHosts.all { configuration.names.add(name) }
        }
        shell = HTTPShell(
            handlers: [
                DeviceDoor(store: store, realms: route), KeyedDoors(store: store, realms: route),
                PageDoor(store: store, realms: route),
            ],
            words: .store, configuration: configuration, ports: ports, logger: logger)
    }

    /// Serves and does the due work, until SIGTERM or SIGINT arrives or the
    /// calling task is cancelled. Then it accepts no more connections, answers
    /// the requests that wait for changes, gives running requests the
    /// configured time to end, closes the store and returns.
    ///
    /// `onReady` receives the port once the server listens on it. Throws
    /// ``WireError`` `cannotListen` if it cannot listen. The store is closed in
    /// this case too.
    public func run(onReady: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        try await run { port, _ in await onReady(port) }
    }

    /// The same for a server whose realms have ports of their own. A listener
    /// has the name of its realm.
    public func run(
        onReady: @escaping @Sendable (_ port: Int, _ realms: [String: Int]) async -> Void
    ) async throws {
        try await serve { await onReady($0.main, $0.others) }
    }

    /// The same as ``run(onReady:)``, with all ports.
    public func serve(
        onReady: @escaping @Sendable (_ ports: BoundPorts) async -> Void
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
