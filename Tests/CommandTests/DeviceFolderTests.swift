// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Faults of a device's own files end `buy` with their sentence.
@Suite(.timeLimit(.minutes(5))) struct DeviceFolderTests {
    private static let product = "com.example.monkeycredits.credits5"

    /// What is wrong with the device's folder.
    enum Fault: String, Sendable, CaseIterable {
        case lockIsFolder, lockIsLoop, lockIsHeld, folderIsFile, folderIsLoop
        case queueIsLoop, partIsFolder, historyIsLoop, receiptIsLoop, receiptPartIsFolder

        /// Whether the device can go on by setting something aside.
        var isCured: Bool {
            switch self {
            case .lockIsFolder, .lockIsLoop, .lockIsHeld, .folderIsFile, .folderIsLoop: false
            default: true
            }
        }

        func make(in folder: String) throws {
            let file = { (name: String) in "\(folder)/\(name)" }
            func link(_ path: String) throws {
                try FileManager.default.createSymbolicLink(
                    atPath: path,
                    withDestinationPath: URL(fileURLWithPath: path).lastPathComponent)
            }
            func makeFolder(_ path: String) throws {
                try FileManager.default.createDirectory(
                    atPath: path + "/full", withIntermediateDirectories: true)
            }
            switch self {
            case .lockIsFolder: try makeFolder(file("queue.lock"))
            case .lockIsLoop: try link(file("queue.lock"))
            case .lockIsHeld: try Data().write(to: URL(fileURLWithPath: file("queue.lock")))
            case .folderIsFile:
                try FileManager.default.removeItem(atPath: folder)
                try Data().write(to: URL(fileURLWithPath: folder))
            case .folderIsLoop:
                try FileManager.default.removeItem(atPath: folder)
                try link(folder)
            case .queueIsLoop: try link(file("queue.json"))
            case .partIsFolder: try makeFolder(file(".queue.json.new"))
            case .historyIsLoop: try link(file("history-7aacdd6fc14d72e0.json"))
            case .receiptIsLoop: try link(file("sandboxReceipt"))
            case .receiptPartIsFolder: try makeFolder(file(".sandboxReceipt.new"))
            }
        }
    }

    /// The time-out is longer than the test's, except where the fault can only
    /// be a process that does not let go.
    @Test(arguments: Fault.allCases)
    func `a fault of the device's files ends a purchase`(fault: Fault) async throws {
        let rig = try Rig()
        let store = try await rig.serve("--data", rig.path("data"))
        defer { store.kill(SIGTERM) }
        let first = try await rig.run(
            "shopkeeper", "buy", Self.product, "--data", rig.path("data"))
        #expect(first.status == 0, "\(first.errors)")
        let folder = try emptied(rig.path("data/devices/shopkeeper"))
        try fault.make(in: folder)
        let lock = fault == .lockIsHeld ? try hold("\(folder)/queue.lock") : -1
        defer { if lock >= 0 { close(lock) } }

        let outcome = try await rig.run(
            "shopkeeper", "buy", Self.product, "--json", "--data", rig.path("data"),
            "--timeout", "400")

        guard !fault.isCured else {
            #expect(outcome.status == 0, "\(outcome.errors)")
            return
        }
        #expect(outcome.status == 73, "\(outcome.errors)")
        #expect(outcome.errors.contains("\"deviceFilesUnusable\""), "\(outcome.errors)")
        #expect(outcome.errors.contains(folder), "\(outcome.errors)")
    }

    @Test(arguments: ["nan", "inf", "-1", "1e300"])
    func `a time-out is a number of seconds`(text: String) async throws {
        let rig = try Rig()
        for verb in [["buy", "x"], ["wait"], ["stop"], ["notify", "TEST"]] {
            let outcome = try await ChildProcess.run(
                ["shopkeeper"] + verb + ["--timeout=\(text)"], environment: rig.environment,
                folder: URL(fileURLWithPath: rig.folder.path))
            #expect(outcome.status == 64, "\(verb) \(outcome.status) \(outcome.errors)")
        }
    }

    /// Empties the only device's folder.
    private func emptied(_ devices: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: devices)
        let folder = "\(devices)/\(try #require(names.first))"
        #expect(names.count == 1)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        return folder
    }

    /// Keeps a lock, as a process does that was stopped while it held it.
    private func hold(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor
    }
}
