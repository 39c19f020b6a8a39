// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import StorageSQLite
import Synchronization

/// A whole CI job: runs a store and a command that uses it, and exits with the
/// command's exit code.
struct ExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command beside a store of its own, and return its exit code.",
        usage: "shopkeeper exec [FILE] [serve options] -- COMMAND [ARGUMENTS]")

    @Argument(help: "A .storekit file; default: a built-in catalogue.")
    var file: String?

    @OptionGroup var options: ServeOptions

    @Flag(
        help: """
            Print a line on standard error for each purchase, refusal, notification attempt and \
            piece of due work; default: quiet.
            """)
    var events: ServeCommand.EventLines = .quiet

    @Flag(
        name: .long,
        help: """
            Let the store answer for Apple's hosts, through a proxy and certificates that the \
            command gets by variables. All other hosts are refused.
            """)
    var intercept = false

    @Flag(name: .long, help: "With --intercept, let the command reach other hosts too.")
    var allowNetwork = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after `--`.")
    var command: [String] = []

    func run() async throws {
        guard !command.isEmpty else {
            throw Failure(
                .usage, "commandMissing", "There is no command to run.", field: "COMMAND",
                rule: "exec [FILE] [options] -- COMMAND [ARGUMENTS]",
                remedy: "put the command behind `--`")
        }
        guard let name = command.first, !name.contains("="), !name.hasPrefix("-") else {
            throw Failure(
                .usage, "commandInvalid", "This is no name of a command.", field: "COMMAND",
                rule: "no `=`, and not an option",
                remedy: "set variables before `shopkeeper`, and run such a file by a shell")
        }
        let signals = ForwardedSignals()
        var options = try options.withSecrets()
        if intercept { options.tlsPort = options.tlsPort ?? 0 }
        try checkNetwork(options)
        let app = try options.app(file: file)
        for warning in app.warnings { Output.complain("warning: \(warning)") }
        let data = try options.data ?? Self.temporaryFolder()
        let isTemporary = options.data == nil
        defer { if isTemporary { try? FileManager.default.removeItem(atPath: data) } }
        var served = try ServedStore(
            options: options, app: app, data: data,
            events: events == .events ? StoreEvents.complained : StoreEvents.unheard)
        // A job that moved the clock looks next at what the merchant received.
        served.jumpNotifications = .awaited
        let status = try await run(command, beside: served, signals, port: options.port ?? 0)
        if isTemporary { try? FileManager.default.removeItem(atPath: data) }
        throw ExitCode(status)
    }

    private func checkNetwork(_ options: ServeOptions) throws {
        guard !allowNetwork || intercept else {
            throw Failure(
                .usage, "networkNotIntercepted", "Without --intercept no host is refused.",
                field: "--allow-network", rule: "together with --intercept",
                remedy: "add --intercept, or leave it out")
        }
        guard !intercept || !options.proxy.isOpen else {
            throw Failure(
                .usage, "interceptBehindProxy",
                "A store behind a proxy answers under its own name.",
                field: "--intercept", rule: "one of --intercept and --behind-proxy",
                remedy: "leave one of them out")
        }
    }

    private func run(
        _ command: [String], beside served: ServedStore, _ signals: ForwardedSignals, port: Int
    ) async throws -> Int32 {
        let (ready, continuation) = AsyncStream<RunFile>.makeStream()
        let serving = Task {
            defer { continuation.finish() }
            try await served.run(port: port, stopsOnSignals: false) { continuation.yield($0) }
        }
        for await run in ready {
            let result = await Result { () -> Int32 in
                let interception =
                    intercept ? try await Interception.start(run, allowsNetwork: allowNetwork) : nil
                let child = Child(command, StoreVariables(run).dictionary, interception?.variables)
                let status = await Result { try await child.run(signals) }
                await interception?.stop()
                return try status.get()
            }
            serving.cancel()
            _ = try? await serving.value
            return try result.get()
        }
        try await serving.value
        throw Failure(.bug, "bug", "The store ended before it was ready.")
    }

    private static func temporaryFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("shopkeeper-exec-\(Live.randomness.hex(8))")
        try PrivateFiles.makeFolder(folder.path)
        return folder.path
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// The command that runs beside the store. It has our streams, terminal and
/// process group, and receives the signals that would end us. We wait for the
/// end of the command itself, not of the processes that it started.
///
/// Foundation's `Process` would give it a process group of its own, which could
/// not read from the terminal. It would also report the end only when all
/// processes that inherited a descriptor had ended.
private struct Child {
    let command: [String]
    let variables: [String: String]
    /// Returns what interception adds to an environment. Nil without it.
    let intercepted: (@Sendable ([String: String]) -> [String: String])?

    init(
        _ command: [String], _ variables: [String: String],
        _ intercepted: (@Sendable ([String: String]) -> [String: String])?
    ) {
        self.command = command
        self.variables = variables
        self.intercepted = intercepted
    }

    /// Returns its exit code. If a signal ended it, this is 128 plus the
    /// signal's number. The same is returned without starting it if a signal
    /// came before.
    func run(_ signals: ForwardedSignals) async throws -> Int32 {
        let pid: pid_t
        switch try signals.start(spawn) {
        case .started(let started): pid = started
        case .signalled(let number): return 128 + number
        }
        let status = await Self.status(of: pid)
        signals.forget()
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }

    private func spawn() throws -> pid_t {
        // Signals that this process ignores from now on must have their default
        // effect in the child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in ForwardedSignals.numbers + [SIGPIPE] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        // This thread may block most signals, and the mask is inherited.
        // Without this, the command would not receive the forwarded signals.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var words = (["/usr/bin/env"] + command).map { strdup($0) } + [nil]
        var settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + settings).forEach { free($0) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, "/usr/bin/env", nil, &attributes, &words, &settings)
        guard result == 0 else {
            throw Failure(
                .unavailable, "commandNotStarted",
                "The command cannot be started: \(String(cString: strerror(result))).",
                field: "COMMAND")
        }
        return pid
    }

    private static func status(of pid: pid_t) async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
    }

    /// The command's own folder is first in PATH, so that scripts can call it.
    private var environment: [String: String] {
        var environment = Live.environment.merging(variables) { $1 }
        environment["SHOPKEEPER_CUSTOMER"] = nil
        environment["SHOPKEEPER_PASSWORD"] = nil
        if let intercepted {
            environment.merge(intercepted(environment)) { $1 }
        } else {
            Self.keepFromProxies(&environment)
        }
        let folder = Bundle.main.executableURL?.deletingLastPathComponent().path
        let path = environment["PATH"] ?? "/usr/bin:/bin"
        if let folder { environment["PATH"] = "\(folder):\(path)" }
        return environment
    }
}

extension Child {
    /// Excludes loopback from proxies, because the store is there. Other
    /// libraries, such as Apple's, also obey these variables.
    fileprivate static func keepFromProxies(_ environment: inout [String: String]) {
        for name in ["no_proxy", "NO_PROXY"] where environment[name] != "*" {
            let known = environment[name].flatMap { $0.isEmpty ? nil : $0 + "," } ?? ""
            environment[name] = known + "127.0.0.1,localhost,::1"
        }
    }
}

/// Catches the signals that would end this process, from its creation on, and
/// forwards them to the command once it runs. A class with a lock, because
/// signals arrive at any moment, also between the command's start and the
/// arrival of its process id. Its sources hold it and it holds them as long as
/// the process lives.
private final class ForwardedSignals: Sendable {
    static let numbers = [SIGINT, SIGTERM, SIGHUP]

    enum Start {
        case started(pid_t)
        case signalled(Int32)
    }

    private struct State {
        var command: pid_t?
        var early: Int32?
    }

    private let state = Mutex(State())
    /// Set once and not changed afterwards.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

    init() {
        sources = Self.numbers.map {
            DispatchSource.makeSignalSource(signal: $0, queue: .global())
        }
        for (number, source) in zip(Self.numbers, sources) {
            signal(number, SIG_IGN)
            source.setEventHandler { [self] in take(number) }
            source.resume()
        }
    }

    /// Starts the command, unless a signal came before.
    func start(_ spawn: () throws -> pid_t) throws -> Start {
        try state.withLock { state in
            if let early = state.early { return .signalled(early) }
            let pid = try spawn()
            state.command = pid
            return .started(pid)
        }
    }

    /// Forgets the ended command, because another process may soon have its id.
    func forget() { state.withLock { $0.command = nil } }

    private func take(_ number: Int32) {
        state.withLock { state in
            guard let command = state.command else {
                state.early = number
                return
            }
            kill(command, number)
        }
    }
}
