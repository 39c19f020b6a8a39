// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Live
import Synchronization
import TestSupport

/// `shopkeeper serve` as a process, on a data directory of a test's own.
final class ServedProcess: @unchecked Sendable {
    struct Failed: Error {
        let output: String
    }

    struct Announcement: Decodable {
        let url: String
    }

    private let process = Process()
    private let output = Mutex("")
    private let events: AsyncStream<Event>
    private let tell: AsyncStream<Event>.Continuation

    private enum Event {
        case printed, ended
    }

    private init() {
        (events, tell) = AsyncStream.makeStream(of: Event.self)
    }

    /// Starts it, and returns when it listens.
    static func start(data: String, port: Int) async throws -> (ServedProcess, url: URL) {
        let served = ServedProcess()
        try served.run(data: data, port: port)
        return (served, try await served.url())
    }

    /// Ends it as a power failure would, and returns when it is gone.
    func kill9() {
        kill(process.processIdentifier, SIGKILL)
    }

    func ended() async throws {
        try await wait { _ in !self.process.isRunning }
    }

    private func run(data: String, port: Int) throws {
        process.executableURL = try Self.executable()
        process.arguments = [
            "serve", "--data", data, "--port", "\(port)", "--json", "--log-level", "error",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["XDG_RUNTIME_DIR": data + "/run"], uniquingKeysWith: { $1 })
        try FileManager.default.createDirectory(
            atPath: data + "/run", withIntermediateDirectories: true)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            guard !bytes.isEmpty else {
                handle.readabilityHandler = nil
                return
            }
            self?.output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            self?.tell.yield(.printed)
        }
        process.terminationHandler = { [tell] _ in tell.yield(.ended) }
        try process.run()
    }

    private func url() async throws -> URL {
        try await wait { Self.announced($0) != nil || !self.process.isRunning }
        guard let text = Self.announced(output.withLock { $0 }), let url = URL(string: text) else {
            throw Failed(output: output.withLock { $0 })
        }
        return url
    }

    private static func announced(_ output: String) -> String? {
        try? JSONDecoder().decode(Announcement.self, from: Data(output.utf8)).url
    }

    /// Waits for the process to print or end, and no longer than a test may.
    private func wait(_ isEnough: @escaping @Sendable (String) -> Bool) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                if isEnough(self.output.withLock { $0 }) { return }
                for await _ in self.events where isEnough(self.output.withLock { $0 }) { return }
            }
            group.addTask {
                try await Live.sleep(.seconds(30))
                throw Failed(output: self.output.withLock { $0 })
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The command, built beside the tests.
    private static func executable() throws -> URL {
        let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let built = URL(fileURLWithPath: try PackageRoot.path() + "/.build/debug")
        for folder in [beside, built] {
            let command = folder.appendingPathComponent("shopkeeper")
            if FileManager.default.isExecutableFile(atPath: command.path) { return command }
        }
        throw PlaceError("no shopkeeper beside \(beside.path)")
    }
}
