// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
import StoreWire
import Synchronization
import UnixSignals

/// What every server of this project does alike: it listens, keeps limits
/// and time-outs, gives each request an id and one line of log, turns what
/// is thrown into JSON, and stops gracefully. What it answers is its
/// ``RequestHandler``'s.
package struct HTTPShell: Sendable {
    private let handler: any RequestHandler
    private let configuration: ShellConfiguration
    private let ports: ShellPorts
    private let connections: Connections
    private let figures: ShellFigures
    private let logger: Logger

    package init(
        handler: any RequestHandler, configuration: ShellConfiguration, ports: ShellPorts,
        logger: Logger
    ) {
        self.handler = handler
        self.configuration = configuration
        self.ports = ports
        self.logger = logger
        connections = Connections(max: configuration.connectionsMax)
        figures = ShellFigures(connections, configuration, ports)
    }

    /// Serves until SIGTERM or SIGINT arrives or the calling task is
    /// cancelled. Then it takes no more connections, answers those who wait,
    /// lets requests under way end within the configured time, runs `close`
    /// and returns.
    ///
    /// `onReady` is told the port once the server listens on it, and those of
    /// its other listeners by name. Throws ``WireError`` `cannotListen` where
    /// it cannot listen on one of them, after `close` too.
    package func run(
        onReady: @escaping @Sendable (_ port: Int, _ others: [String: Int]) async -> Void,
        close: @Sendable () async -> Void
    ) async throws {
        let listening = Listening(others: configuration.listeners.count)
        var services: [any Service] = []
        for (name, port) in [(nil, configuration.port)]
            + configuration.listeners.map({ (Optional($0.name), $0.port) })
        {
            services.append(
                application(listening, port: port) { bound in
                    guard let all = listening.bind(bound, name) else { return }
                    await onReady(all.port, all.others)
                })
        }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: configuration.stopsOnSignals ? [.sigterm, .sigint] : [],
            logger: quiet)
        group.maximumGracefulShutdownDuration = configuration.shutdownTimeout
        let running = ServiceGroup(configuration: group)
        // A task of its own: cancelling the caller asks it to stop, gently.
        let serving = Task { try await running.run() }
        let outcome = await withTaskCancellationHandler {
            await serving.result
        } onCancel: {
            Task { await running.triggerGracefulShutdown() }
        }
        await close()
        logger.info("stopped")
        guard case .failure(let error) = outcome, !(error is CancellationError) else { return }
        throw listening.isComplete ? error : cannotListen
    }

    private func application(
        _ listening: Listening, port: Int, onReady: @escaping @Sendable (Int) async -> Void
    ) -> some Service {
        let logger = logger
        // Half of the reserve is what the rest of the process is sure to have.
        let descriptorMax = Int32(
            clamping: configuration.descriptors.map { $0.limit - $0.reserve / 2 } ?? .max)
        let idle = TimeAmount.nanoseconds(configuration.idleTimeout.nanoseconds)
        return Application(
            responder: ShellResponder(
                handler: handler, configuration: configuration, ports: ports,
                connections: connections, figures: figures, listening: listening, logger: logger),
            server: HTTPServerBuilder { responder in
                LoopHTTP1(
                    http: HTTP1Channel(
                        responder: responder, configuration: .init(idleTimeout: idle)),
                    bodyTimeout: .nanoseconds(configuration.bodyTimeout.nanoseconds),
                    descriptorMax: descriptorMax)
            },
            configuration: .init(
                address: .hostname(configuration.host, port: port), serverName: "shopkeeper",
                availableConnectionsDelegate: SharedConnections(connections: connections)),
            onServerRunning: { channel in
                await prepare(channel)
                let bound = channel.localAddress?.port ?? port
                logger.info("listening", metadata: ["port": .stringConvertible(bound)])
                await onReady(bound)
            },
            logger: quiet)
    }

    /// A port waits for room that another port gives up, and for descriptors.
    private func prepare(_ port: any Channel) async {
        let logger = logger
        connections.add { port.eventLoop.execute { port.pipeline.read() } }
        try? await port.eventLoop.submit {
            try port.pipeline.syncOperations.addHandler(
                AcceptPause(logger: logger), position: .first)
        }.get()
    }

    /// For the libraries below: their own words only where something is wrong.
    private var quiet: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }

    private var cannotListen: WireError {
        let ports = ([configuration.port] + configuration.listeners.map(\.port)).map(String.init)
        return WireError(
            code: "cannotListen",
            message: "The server cannot listen on \(configuration.host), port "
                + "\(ports.joined(separator: " or ")).",
            field: "port", rule: "a port that no other program listens on",
            remedy: "choose another port, 0 for any free one, or stop the other program")
    }
}

/// Which ports are listened on. A class, because all listeners share it.
final class Listening: Sendable {
    private struct State {
        var main: Int?
        var others: [String: Int] = [:]
        var names: [Int: String] = [:]
    }

    private let wanted: Int
    private let state = Mutex(State())

    /// `others`: how many listeners there are beside the server's own.
    init(others: Int) {
        wanted = others
    }

    /// Takes down that a port is listened on; the last to come is told all.
    func bind(_ port: Int, _ name: String?) -> (port: Int, others: [String: Int])? {
        state.withLock { state in
            if let name {
                state.others[name] = port
                state.names[port] = name
            } else {
                state.main = port
            }
            guard let main = state.main, state.others.count == wanted else { return nil }
            return (main, state.others)
        }
    }

    func name(ofPort port: Int?) -> String? {
        guard wanted > 0, let port else { return nil }
        return state.withLock { $0.names[port] }
    }

    var isComplete: Bool {
        state.withLock { $0.main != nil && $0.others.count == wanted }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
