// SPDX-License-Identifier: Apache-2.0

import Commerce
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

struct FolderDeviceFilesTests {
    let place: TemporaryFolder
    let files: FolderDeviceFiles

    init() throws {
        place = try temporaryFolder()
        files = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
    }

    func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: place.file(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func `files are replaced whole and are their owner's alone`() throws {
        #expect(try files.read("queue.json") == nil)

        try files.replace([
            DeviceFile(name: "receipt", bytes: [1, 2]),
            DeviceFile(name: "queue.json", bytes: [UInt8](repeating: 7, count: 200_000)),
        ])
        try files.replace([DeviceFile(name: "queue.json", bytes: [3])])

        #expect(try files.read("receipt") == [1, 2])
        #expect(try files.read("queue.json") == [3])
        #expect(try mode("device") == 0o700)
        #expect(try mode("device/queue.json") == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.file("device")).sorted()
                == ["queue.json", "receipt"])
    }

    @Test func `a write cut short leaves the old bytes`() throws {
        try files.replace([DeviceFile(name: "queue.json", bytes: [1])])
        // As a process leaves it that dies while writing.
        try Data([9, 9]).write(to: URL(fileURLWithPath: place.file("device/.queue.json.new")))

        #expect(try files.read("queue.json") == [1])
        try files.replace([DeviceFile(name: "queue.json", bytes: [2])])
        #expect(try files.read("queue.json") == [2])
    }

    @Test func `a folder that cannot be made is a fault that names it`() throws {
        try Data().write(to: URL(fileURLWithPath: place.file("file")))
        let broken = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("file/device")))

        let fault = #expect(throws: DeviceFilesFault.self) {
            try broken.replace([DeviceFile(name: "queue.json", bytes: [1])])
        }
        #expect(fault?.description.contains("file/device") == true)
    }

    @Test func `what cannot be read or written is a fault that names it`() throws {
        try files.replace([DeviceFile(name: "queue.json", bytes: [1])])

        let read = #expect(throws: DeviceFilesFault.self) { try files.read("queue.json/x") }
        #expect(read?.description.contains("read \(place.file("device/queue.json/x"))") == true)
        // Longer than a file system takes.
        let file = DeviceFile(name: "other" + String(repeating: "x", count: 300), bytes: [2])
        for write in [{ try files.replace([file]) }, { try files.exchange(file) }] {
            let fault = #expect(throws: DeviceFilesFault.self, performing: write)
            #expect(fault?.description.contains("other") == true)
        }
        #expect(try files.read("queue.json") == [1])
    }

    @Test func `a file that the disk takes in part alone is a fault, and the old one stays`()
        async
    {
        await #expect(processExitsWith: .exitCode(3)) {
            let place = try temporaryFolder()
            let files = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
            try files.replace([DeviceFile(name: "queue.json", bytes: [1])])
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            #if canImport(Darwin)
                let resource = RLIMIT_FSIZE
            #else
                let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            #endif
            signal(SIGXFSZ, SIG_IGN)
            guard setrlimit(resource, &limit) == 0 else { exit(4) }

            let large = DeviceFile(name: "queue.json", bytes: Array(repeating: 2, count: 100_001))
            let fault = #expect(throws: DeviceFilesFault.self) { try files.replace([large]) }

            exit(try fault?.errorNumber == EFBIG && files.read("queue.json") == [1] ? 3 : 5)
        }
    }

    @Test func `a folder that another process makes first is there`() throws {
        let disk = SystemDisk()
        #expect(!disk.exists(place.file("a")))

        for _ in 1...2 { try disk.makeFolder(place.file("a")) }

        #expect(disk.exists(place.file("a")))
        #expect(throws: DeviceFilesFault.self) { try disk.makeFolder(place.file("b/c")) }
    }

    @Test func `one at a time under the lock`() throws {
        let other = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
        let inside = Mutex(0)
        let most = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 40) { index in
            try? (index % 2 == 0 ? files : other).withLock {
                let now = inside.withLock { inside in
                    inside += 1
                    return inside
                }
                most.withLock { $0 = max($0, now) }
                inside.withLock { $0 -= 1 }
            }
        }
        #expect(most.withLock { $0 } == 1)
    }

    @Test func `a claim lasts as long as its launch`() throws {
        let other = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
        #expect(!other.isClaimed(launch: "a"))

        try files.claim(launch: "a")
        #expect(other.isClaimed(launch: "a"))
        files.release(launch: "a")
        #expect(!other.isClaimed(launch: "a"))
    }

    @Test func `a launch that claims again keeps its claim`() throws {
        let other = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
        try files.claim(launch: "a")
        try files.claim(launch: "a")
        #expect(other.isClaimed(launch: "a"))

        try FileManager.default.removeItem(atPath: place.file("device/launch-a.lock"))
        #expect(!other.isClaimed(launch: "a"))
        try files.claim(launch: "a")
        #expect(other.isClaimed(launch: "a"))
        files.release(launch: "a")
        #expect(!other.isClaimed(launch: "a"))
    }

    @Test func `what launches leave that end without a word does not collect`() throws {
        let other = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
        try other.claim(launch: "alive")
        for number in 1...3 {
            let passing = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
            try passing.claim(launch: "passing-\(number)")
        }
        try files.claim(launch: "last")

        let names = try FileManager.default.contentsOfDirectory(atPath: place.file("device"))
        #expect(names.sorted() == ["launch-alive.lock", "launch-last.lock"])
    }

    @Test func `a launch is claimed by one`() throws {
        let other = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
        try files.claim(launch: "a")

        let fault = #expect(throws: DeviceFilesFault.self) { try other.claim(launch: "a") }
        #expect(fault?.errorNumber == EWOULDBLOCK)
        #expect(other.isClaimed(launch: "a"))
        files.release(launch: "a")
        try other.claim(launch: "a")
        #expect(files.isClaimed(launch: "a"))
    }

    /// In a process of its own, in which nothing else opens and closes.
    @Test func `nothing leaves a descriptor open`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let place = try temporaryFolder()
            let folder = URL(fileURLWithPath: place.file("device"))
            let (one, other) = (
                FolderDeviceFiles(folder: folder), FolderDeviceFiles(folder: folder)
            )
            try other.claim(launch: "other")
            let lowest = open("/dev/null", O_RDONLY)
            close(lowest)

            try one.replace([DeviceFile(name: "queue.json", bytes: [1])])
            try one.exchange(DeviceFile(name: "queue.json", bytes: [2]))
            _ = try one.withLock { try one.read("queue.json") }
            try one.claim(launch: "one")
            one.release(launch: "one")
            guard one.isClaimed(launch: "other"), !one.isClaimed(launch: "gone") else { exit(4) }
            #expect(throws: DeviceFilesFault.self) { try one.claim(launch: "other") }

            exit(open("/dev/null", O_RDONLY) == lowest ? 3 : 5)
        }
    }

    @Test func `a launch that ended without a word is not claimed`() throws {
        do {
            let passing = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
            try passing.claim(launch: "b")
            #expect(files.isClaimed(launch: "b"))
        }
        #expect(!files.isClaimed(launch: "b"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.file("device")) == [])
    }

    @Test(arguments: ["", "{}", "[1]", #"{"version":1}"#, #"{"version":9}"#, "\0\0\0"])
    func `a queue file that cannot be used is set aside with all its bytes`(
        text: String
    ) throws {
        let queue = QueueFile(
            files: files, storeURL: "u", bundleID: nil, randomness: .seeded(1))
        let bytes = Array(text.utf8)
        try files.replace([DeviceFile(name: "queue.json", bytes: bytes)])

        let change = try queue.open(for: "l")

        #expect(change.record.entries == [])
        #expect(try queue.read() == change.record)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.file("device"))
        let aside = try #require(names.first { $0.hasPrefix("queue-aside-") })
        #expect(try files.read(aside) == bytes)
        #expect(change.notice?.contains(aside) == true)
        #expect(try queue.open(for: "l").notice == nil)
    }

    @Test func `a queue file that is too large is set aside as a whole`() throws {
        let queue = QueueFile(
            files: files, storeURL: "u", bundleID: nil, randomness: .seeded(1), bytesMax: 1000)
        let bytes = Array(repeating: UInt8(ascii: " "), count: 1_000_000)
        try files.replace([DeviceFile(name: "queue.json", bytes: bytes)])

        let change = try queue.open(for: "l")

        #expect(change.record.entries == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: place.file("device"))
        let aside = try #require(names.first { $0.hasPrefix("queue-aside-") })
        #expect(try files.read(aside) == bytes)
        #expect(try queue.open(for: "l").notice == nil)
    }

    @Test func `no queue file is written that would not be read`() throws {
        let queue = QueueFile(
            files: files, storeURL: "u", bundleID: nil, randomness: .seeded(1), bytesMax: 1000)
        var known: QueueRecord?
        let fault = #expect(throws: QueueFileFault.self) {
            for number in 0..<10 {
                var next = entry
                next.key = "entry-\(number)"
                known = try queue.change(.added(next), knowing: known).record
            }
        }
        #expect(fault == .full(1000))
        #expect(known?.entries.isEmpty == false)
        #expect(try queue.read() == known)
    }

    @Test func `a queue file damaged while a process runs is written again as it knew it`()
        throws
    {
        let queue = QueueFile(
            files: files, storeURL: "u", bundleID: nil, randomness: .seeded(1))
        let known = try queue.change(.added(entry)).record
        for damage in [[UInt8]("{".utf8), nil] {
            if let damage {
                try files.replace([DeviceFile(name: "queue.json", bytes: damage)])
            } else {
                try FileManager.default.removeItem(atPath: place.file("device/queue.json"))
            }

            let change = try queue.change(.acknowledged(key: "none"), knowing: known)

            #expect(change.record.entries == [entry])
            #expect(try queue.read() == known)
            #expect((change.notice != nil) == (damage != nil))
        }
    }

    /// What may be in the place of a file. Reading some of it would never end.
    enum NoFile: String, Sendable, CaseIterable, Codable {
        case pipe, folder, zeroes, listener, loop

        func make(at path: String) throws {
            switch self {
            case .pipe: #expect(mkfifo(path, 0o600) == 0)
            case .folder:
                try FileManager.default.createDirectory(
                    atPath: path + "/full", withIntermediateDirectories: true)
            case .zeroes: #expect(symlink("/dev/zero", path) == 0)
            case .loop: #expect(symlink(URL(fileURLWithPath: path).lastPathComponent, path) == 0)
            case .listener:
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                let isBound = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, size) == 0
                    }
                }
                #expect(isBound)
            }
        }
    }

    /// In a process of its own, which ends if it hangs.
    @Test(arguments: NoFile.allCases)
    func `what is no file is set aside in the place of queue and history`(kind: NoFile) async {
        await #expect(processExitsWith: .exitCode(3)) { [kind] in
            alarm(100)
            let place = try temporaryFolder()
            let files = FolderDeviceFiles(folder: URL(fileURLWithPath: place.file("device")))
            let queue = QueueFile(
                files: files, storeURL: "u", bundleID: nil, randomness: .seeded(1))
            let origin = HistoryOrigin(
                deviceUUID: "d", owner: Owner(realm: "r", customer: "c"), generation: 1)
            let history = HistoryFile(files: files)
            let names = [QueueFile.name, HistoryFile.name(of: origin.owner)]
            try files.replace([DeviceFile(name: "other", bytes: [1])])
            for name in names { try kind.make(at: place.file("device/\(name)")) }

            let change = try queue.open(for: "l")
            #expect(change.record.entries.isEmpty && change.notice != nil)
            #expect(try queue.read() == change.record)
            #expect(try queue.open(for: "l").notice == nil)
            let found = try history.read(origin)
            #expect(found.record == HistoryRecord(origin) && found.notice != nil)
            for name in names { try files.exchange(DeviceFile(name: name, bytes: [7])) }
            #expect(try names.map { try files.read($0) } == [[7], [7]])
            let left = try FileManager.default.contentsOfDirectory(atPath: place.file("device"))
            #expect(left.filter { $0.hasSuffix(".no-file-1") }.count == 2)
            exit(3)
        }
    }

    @Test func `what stands in the place of a file that is being written is set aside`() throws {
        try files.replace([DeviceFile(name: "other", bytes: [1])])
        try FileManager.default.createDirectory(
            atPath: place.file("device/.queue.json.new/full"), withIntermediateDirectories: true)

        try files.replace([DeviceFile(name: "queue.json", bytes: [7])])

        #expect(try files.read("queue.json") == [7])
        #expect(
            FileManager.default.fileExists(
                atPath: place.file("device/.queue.json.new.no-file-1/full")))
    }

    private let entry = QueueEntry(
        key: "k", launch: "l", payment: PaymentContents(productID: "x", quantity: 1),
        state: .asked)

    @Test func `the queue of another store is refused`() throws {
        let mine = QueueFile(files: files, storeURL: "u", bundleID: nil, randomness: .seeded(1))
        _ = try mine.change(.added(entry))
        let other = QueueFile(files: files, storeURL: "v", bundleID: nil, randomness: .seeded(1))

        #expect(try mine.read().entries == [entry])
        #expect(throws: QueueFileFault.self) { try other.open(for: "l") }
        #expect(try mine.read().entries == [entry])
    }
}
