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
    private let figures = ShellFigures()
    private let logger: Logger

    package init(
        handler: any RequestHandler, configuration: ShellConfiguration, ports: ShellPorts,
        logger: Logger
    ) {
        self.handler = handler
        self.configuration = configuration
        self.ports = ports
        self.logger = logger
    }

    /// Serves until SIGTERM or SIGINT arrives or the calling task is
    /// cancelled. Then it takes no more connections, answers those who wait,
    /// lets requests under way end within the configured time, runs `close`
    /// and returns.
    ///
    /// `onReady` is told the port once the server listens on it. Throws
    /// ``WireError`` `cannotListen` where it cannot, after `close` too.
    package func run(
        onReady: @escaping @Sendable (_ port: Int) async -> Void,
        close: @Sendable () async -> Void
    ) async throws {
        let listens = Flag()
        let application = application { port in
            listens.raise()
            await onReady(port)
        }
        var group = ServiceGroupConfiguration(
            services: [application],
            gracefulShutdownSignals: configuration.stopsOnSignals ? [.sigterm, .sigint] : [],
            logger: quiet)
        group.maximumGracefulShutdownDuration = configuration.shutdownTimeout
        let services = ServiceGroup(configuration: group)
        // A task of its own: cancelling the caller asks it to stop, gently.
        let serving = Task { try await services.run() }
        let outcome = await withTaskCancellationHandler {
            await serving.result
        } onCancel: {
            Task { await services.triggerGracefulShutdown() }
        }
        await close()
        logger.info("stopped")
        guard case .failure(let error) = outcome, !(error is CancellationError) else { return }
        throw listens.isRaised ? error : cannotListen
    }

    private func application(
        onReady: @escaping @Sendable (Int) async -> Void
    ) -> some Service {
        let (logger, port) = (logger, configuration.port)
        let idle = TimeAmount.nanoseconds(configuration.idleTimeout.nanoseconds)
        return Application(
            responder: ShellResponder(
                handler: handler, configuration: configuration, ports: ports,
                figures: figures, logger: logger),
            server: HTTPServerBuilder { responder in
                LoopHTTP1(
                    http: HTTP1Channel(
                        responder: responder, configuration: .init(idleTimeout: idle)))
            },
            configuration: .init(
                address: .hostname(configuration.host, port: port), serverName: "shopkeeper",
                availableConnectionsDelegate: MaximumAvailableConnections(
                    configuration.connectionsMax, logger: quiet)),
            onServerRunning: { channel in
                let bound = channel.localAddress?.port ?? port
                logger.info("listening", metadata: ["port": .stringConvertible(bound)])
                await onReady(bound)
            },
            logger: quiet)
    }

    /// For the libraries below: their own words only where something is wrong.
    private var quiet: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        return quiet
    }

    private var cannotListen: WireError {
        WireError(
            code: "cannotListen",
            message: "The server cannot listen on \(configuration.host), port "
                + "\(configuration.port).",
            field: "port", rule: "a port that no other program listens on",
            remedy: "choose another port, 0 for any free one, or stop the other program")
    }
}

/// Something that happened, told across tasks.
private final class Flag: Sendable {
    private let state = Mutex(false)

    func raise() { state.withLock { $0 = true } }

    var isRaised: Bool { state.withLock { $0 } }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
