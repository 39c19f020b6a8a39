// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization
public import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A program that a test runs, reads and ends.
///
/// Foundation's `Process` notices an end through a descriptor that children
/// started at the same moment inherit. So parallel tests could wait for each
/// other's children for ever. This one is spawned separately, and a thread of
/// its own waits for it.
public final class ChildProcess: Sendable {
    /// How a program ended, with its output.
    public struct Outcome: Sendable {
        /// The exit code. If a signal ended it, 128 plus the signal's number.
        public let status: Int32
        public let output: String
        public let errors: String
    }

    public let pid: pid_t
    /// The lines of standard output.
    public let lines: AsyncStream<String>
    private let output: Drain
    private let errors: Drain
    private let name: String
    private let ended: Ended

    /// Starts the program, which is looked up in `PATH`. `environment` replaces
    /// the test's own.
    public init(
        _ arguments: [String], environment: [String: String]? = nil, folder: URL? = nil
    ) throws {
        let place = folder.map { ["--chdir=\($0.path)"] } ?? []
        let environment = environment ?? ProcessInfo.processInfo.environment
        let words = CStrings(["/usr/bin/env"] + place + arguments)
        let variables = CStrings(environment.map { "\($0.key)=\($0.value)" })
        // One at a time, so that no child is started between making a pipe and
        // marking it as close-on-exec.
        let (result, pid, outputEnd, errorsEnd) = try Self.spawning.withLock { _ in
            Self.keepAll()
            let (outputEnd, outputWrite) = try Self.pipe()
            let (errorsEnd, errorsWrite) = try Self.pipe()
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, outputWrite, 1)
            posix_spawn_file_actions_adddup2(&actions, errorsWrite, 2)
            var attributes = Self.plainSignals()
            defer { posix_spawnattr_destroy(&attributes) }
            var pid: pid_t = 0
            let result = posix_spawn(
                &pid, "/usr/bin/env", &actions, &attributes, words.pointers, variables.pointers)
            close(outputWrite)
            close(errorsWrite)
            return (result, pid, outputEnd, errorsEnd)
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
        self.pid = pid
        name = arguments.joined(separator: " ")
        let (lines, continuation) = AsyncStream<String>.makeStream()
        self.lines = lines
        output = Drain(outputEnd, continuation)
        errors = Drain(errorsEnd, nil)
        ended = Ended(pid)
    }

    deinit { Glibc.kill(pid, SIGKILL) }

    /// What it has written to standard error up to now.
    public var errorsSoFar: String { errors.text }

    public func kill(_ signal: Int32) { Glibc.kill(pid, signal) }

    /// Waits until the program has ended, and returns all of its output. A
    /// program that does not end fails the test and is killed.
    public func outcome(
        within patience: Duration = Patience.long, at place: SourceLocation = .here()
    ) async -> Outcome {
        let began = ContinuousClock.now
        let isOver = await becomes(within: patience) {
            ended.status != nil && output.isWhole && errors.isWhole
        }
        if !isOver {
            kill(SIGKILL)
            let said = (output.text + errors.text).suffix(2000)
            reportVainWait(for: "the end of `\(name)`", seen: "\(said)", since: began, at: place)
        }
        let status = ended.status ?? SIGKILL
        return Outcome(
            status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F),
            output: output.text, errors: errors.text)
    }

    /// Waits for the first line of output that contains `text`. Nil if the
    /// program ended without one.
    public func line(
        with text: String, at place: SourceLocation = .here()
    ) async -> String? {
        await first(of: lines, "a line of `\(name)` with “\(text)”", at: place) {
            $0.contains(text)
        }
    }

    /// Runs a program to its end.
    public static func run(
        _ arguments: [String], environment: [String: String]? = nil, folder: URL? = nil,
        within patience: Duration = Patience.long, at place: SourceLocation = .here()
    ) async throws -> Outcome {
        try await ChildProcess(arguments, environment: environment, folder: folder)
            .outcome(within: patience, at: place)
    }

    /// Keeps this process's descriptors from children, so that they do not
    /// inherit sockets or locks of other tests.
    private static func keepAll() {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for number in open.compactMap({ Int32($0) }) where number > 2 {
            let flags = fcntl(number, F_GETFD)
            if flags >= 0 { _ = fcntl(number, F_SETFD, flags | FD_CLOEXEC) }
        }
    }

    /// Attributes with no signal blocked or ignored, whatever the thread and
    /// test.
    private static func plainSignals() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var ended = sigset_t()
        sigemptyset(&ended)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&ended, number) }
        posix_spawnattr_setsigdefault(&attributes, &ended)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        return attributes
    }

    private static let spawning = Mutex(())

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

/// Waits for the end of a child, on a thread of its own.
private final class Ended: Sendable {
    private let state = Mutex<Int32?>(nil)

    var status: Int32? { state.withLock { $0 } }

    init(_ pid: pid_t) {
        Thread.detachNewThread { [self] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let final = status
            state.withLock { $0 = final }
        }
    }
}

/// Reads a descriptor to its end, on a thread of its own.
private final class Drain: Sendable {
    private let state = Mutex<(bytes: [UInt8], isWhole: Bool)>(([], false))

    var isWhole: Bool { state.withLock { $0.isWhole } }
    var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }

    init(_ descriptor: Int32, _ lines: AsyncStream<String>.Continuation?) {
        Thread.detachNewThread { [self] in
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                state.withLock { $0.bytes += buffer[..<count] }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: 10) {
                    lines?.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
            close(descriptor)
            lines?.finish()
            state.withLock { $0.isWhole = true }
        }
    }
}

/// A null-terminated array of C strings.
private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) {
        pointers = strings.map { strdup($0) } + [nil]
    }

    deinit { pointers.forEach { free($0) } }
}
