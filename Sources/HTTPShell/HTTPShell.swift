// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
import StoreWire
import Synchronization
import UnixSignals
package import WireErrors

/// The common part of every server of this project. It listens, applies limits
/// and time-outs, gives each request an id and a log line, converts errors to
/// JSON, and stops gracefully. Its ``RequestHandler``s answer the requests.
package struct HTTPShell: Sendable {
    private let handlers: [any RequestHandler]
    private let words: ErrorWords
    private let shared: ShellShared
    private let logger: Logger

    private var configuration: ShellConfiguration { shared.configuration }
    private var connections: Connections { shared.connections }

    /// `handlers`: the first that knows an address answers. `words`: the texts
    /// of the errors that every server may meet.
    package init(
        handlers: [any RequestHandler], words: ErrorWords, configuration: ShellConfiguration,
        ports: ShellPorts, logger: Logger
    ) {
        self.handlers = handlers
        self.words = words
        shared = ShellShared(configuration, ports)
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT arrives or the calling task is cancelled.
    /// Then it accepts no more connections, answers the waiting requests, gives
    /// running requests the configured time to end, calls `close` and returns.
    ///
    /// `onReady` receives the ports once the server listens on all of them.
    /// Throws ``WireError`` `cannotListen` if it cannot listen on one of them,
    /// also after calling `close`.
    package func run(
        onReady: @escaping @Sendable (BoundPorts) async -> Void,
        close: @Sendable () async -> Void
    ) async throws {
        let wanted = wantedPorts
        let listening = Listening(ports: wanted.count)
        let services: [any Service] = wanted.map { place, port in
            application(listening, port: port, prepare: preparation(place)) { bound in
                guard let all = listening.bind(bound, place) else { return }
                await onReady(all)
            }
        }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: configuration.stopsOnSignals ? [.sigterm, .sigint] : [],
            logger: quiet)
        group.maximumGracefulShutdownDuration = configuration.shutdownTimeout
        let running = ServiceGroup(configuration: group)
        // In a separate task, so that cancelling the caller requests a graceful
        // stop.
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

    private var wantedPorts: [(Listening.Place, Int)] {
        var ports = [(Listening.Place.main, configuration.port)]
        ports += configuration.listeners.map { (Listening.Place.named($0.name), $0.port) }
        if let secure = configuration.secure { ports.append((.secure, secure.port)) }
        return ports
    }

    /// What is done with each new connection at a port, before everything else.
    private func preparation(
        _ place: Listening.Place
    ) -> (@Sendable (any Channel) throws -> Void)? {
        place == .secure ? configuration.secure?.prepare : nil
    }

    private func application(
        _ listening: Listening, port: Int,
        prepare: (@Sendable (any Channel) throws -> Void)?,
        onReady: @escaping @Sendable (Int) async -> Void
    ) -> some Service {
        let (logger, configuration) = (logger, configuration)
        // The rest of the process is certain to have half of the reserve.
        let descriptorMax = Int32(
            clamping: configuration.descriptors.map { $0.limit - $0.reserve / 2 } ?? .max)
        let unparsed = UnparsedAnswers(shared, handlers, words, logger)
        let idle = TimeAmount.nanoseconds(configuration.idleTimeout.nanoseconds)
        return Application(
            responder: ShellResponder(
                handlers: handlers, words: words, shared: shared, listening: listening,
                logger: logger),
            server: HTTPServerBuilder { responder in
                LoopHTTP1(
                    http: HTTP1Channel(
                        responder: responder, configuration: .init(idleTimeout: idle)),
                    unparsed: unparsed,
                    bodyTimeout: .nanoseconds(configuration.bodyTimeout.nanoseconds),
                    descriptorMax: descriptorMax, prepare: prepare)
            },
            configuration: .init(
                address: .hostname(configuration.host, port: port), serverName: "shopkeeper",
                availableConnectionsDelegate: SharedConnections(connections: connections)),
            onServerRunning: { channel in
                await Self.prepare(channel, connections, logger)
                let bound = channel.localAddress?.port ?? port
                logger.info("listening", metadata: ["port": .stringConvertible(bound)])
                await onReady(bound)
            },
            logger: quiet)
    }

    /// Makes a port wait for room that another port releases, and for file
    /// descriptors.
    static func prepare(
        _ port: any Channel, _ connections: Connections, _ logger: Logger
    ) async {
        connections.add { port.eventLoop.execute { port.pipeline.read() } }
        try? await port.eventLoop.submit {
            try port.pipeline.syncOperations.addHandler(
                AcceptPause(logger: logger), position: .first)
        }.get()
    }

    /// The logger for the libraries below, with their messages about problems
    /// only.
    private var quiet: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }

    private var cannotListen: WireError {
        let ports = wantedPorts.map { "\($0.1)" }
        return WireError(
            code: "cannotListen",
            message: "The server cannot listen on \(configuration.host), port "
                + "\(ports.joined(separator: " or ")).",
            field: "port", rule: "a port that no other program listens on",
            remedy: "choose another port, 0 for any free one, or stop the other program")
    }
}

/// The ports on which a server listens.
public struct BoundPorts: Hashable, Sendable {
    /// The main one.
    public fileprivate(set) var main = 0
    /// Those of the other listeners, by name.
    public fileprivate(set) var others: [String: Int] = [:]
    /// The one with TLS. Nil if there is none.
    public fileprivate(set) var secure: Int?
}

/// The ports that are listened on. A class, because all listeners share it.
final class Listening: Sendable {
    /// Which of a server's ports is meant.
    enum Place: Hashable, Sendable {
        case main, secure
        case named(String)
    }

    private struct State {
        var bound = BoundPorts()
        var count = 0
        var names: [Int: String] = [:]
    }

    private let wanted: Int
    private let state = Mutex(State())

    init(ports: Int) {
        wanted = ports
    }

    /// Records that a port is listened on. Returns all ports once the last one
    /// is.
    func bind(_ port: Int, _ place: Place) -> BoundPorts? {
        state.withLock { state in
            switch place {
            case .main: state.bound.main = port
            case .secure: state.bound.secure = port
            case .named(let name):
                state.bound.others[name] = port
                state.names[port] = name
            }
            state.count += 1
            return state.count == wanted ? state.bound : nil
        }
    }

    func name(ofPort port: Int?) -> String? {
        guard wanted > 1, let port else { return nil }
        return state.withLock { $0.names[port] }
    }

    func isSecure(port: Int?) -> Bool {
        guard wanted > 1, let port else { return false }
        return state.withLock { $0.bound.secure == port }
    }

    var isComplete: Bool { state.withLock { $0.count == wanted } }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
