// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import TestSupport
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct KeyStoreTests {
    @Test func `the first writer wins in memory`() async throws {
        let keys = MemoryKeyStore(["given": [9]])

        #expect(try await keys.store([1], as: "a/b") == [1])
        #expect(try await keys.store([2], as: "a/b") == [1])
        #expect(try await keys.read("a/b") == [1])
        #expect(try await keys.read("given") == [9])
        #expect(try await keys.read("nothing") == nil)
    }

    @Test func `a key is a file that only its owner reads`() async throws {
        let folder = try temporaryFolder()
        let keys = FileKeyStore(directory: folder.file("keys"), randomness: .seeded(1))

        #expect(try await keys.read("sandbox/root.pem") == nil)
        #expect(try await keys.store([1, 2, 3], as: "sandbox/root.pem") == [1, 2, 3])
        #expect(try await keys.store([4], as: "sandbox/root.pem") == [1, 2, 3])
        #expect(try await keys.read("sandbox/root.pem") == [1, 2, 3])

        #expect(try mode(folder.file("keys/sandbox/root.pem")) == 0o600)
        #expect(try mode(folder.file("keys/sandbox")) == 0o700)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("keys/sandbox"))
                == ["root.pem"])
    }

    @Test func `of many writers of a file one wins and all learn of it`() async throws {
        let folder = try temporaryFolder()

        let seen = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for n in 0..<16 {
                let keys = FileKeyStore(
                    directory: folder.path, randomness: .seeded(UInt64(n)))
                group.addTask {
                    try await keys.store([UInt8](repeating: UInt8(n), count: 40_000), as: "k")
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(seen.count == 1)
        #expect(seen.first?.count == 40_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["k"])
    }

    @Test func `what a killed writer left is removed, and nothing else`() async throws {
        let folder = try temporaryFolder()
        let keys = FileKeyStore(directory: folder.path, randomness: .seeded(1))
        _ = try await keys.store([1], as: "sandbox/authority.json")
        let left = "authority.json.0123456789abcdef.part"
        for name in [left, "mine.part", "my.notes.part"] {
            try Data([1]).write(to: URL(fileURLWithPath: folder.file("sandbox/\(name)")))
        }

        keys.removeLeft()

        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("sandbox"))
        #expect(names.sorted() == ["authority.json", "mine.part", "my.notes.part"])
    }

    @Test(arguments: ["", "/a", "a/", "a//b", "..", "../a", "a/../b", ".hidden", "a b", "a\0"])
    func `a name cannot leave its folder`(name: String) async throws {
        let folder = try temporaryFolder()
        let keys = FileKeyStore(directory: folder.path, randomness: .seeded(1))

        await #expect(throws: KeyStoreFault.self) { try await keys.read(name) }
        await #expect(throws: KeyStoreFault.self) { try await keys.store([1], as: name) }
    }

    @Test func `a key that others may read is closed to them, and a link is refused`() async throws
    {
        let folder = try temporaryFolder()
        let keys = FileKeyStore(directory: folder.file("keys"), randomness: .seeded(1))
        _ = try await keys.store([1, 2, 3], as: "a.pem")
        let path = folder.file("keys/a.pem")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("keys/b.pem"), withDestinationPath: path)

        #expect(try await keys.read("a.pem") == [1, 2, 3])
        #expect(try mode(path) == 0o600)
        await #expect(throws: KeyStoreFault.self) { try await keys.read("b.pem") }
    }

    @Test func `what is replaced is whole, private, and nothing else`() async throws {
        let folder = try temporaryFolder()
        let keys = FileKeyStore(directory: folder.file("keys"), randomness: .seeded(1))
        _ = try await keys.store([1, 2, 3], as: "a.pem")

        try await keys.replace([4], as: "a.pem")

        #expect(try await keys.read("a.pem") == [4])
        #expect(try mode(folder.file("keys/a.pem")) == 0o600)
        #expect(try await keys.names() == ["a.pem"])
        await #expect(throws: KeyStoreFault.self) { try await keys.replace([1], as: "b.pem") }
        #expect(try await keys.read("b.pem") == nil)
    }

    @Test func `a folder that is a file is a fault that names the key`() async throws {
        let folder = try temporaryFolder()
        try Data([1]).write(to: URL(fileURLWithPath: folder.file("keys")))
        let keys = FileKeyStore(directory: folder.file("keys"), randomness: .seeded(1))

        let fault = await #expect(throws: KeyStoreFault.self) {
            try await keys.store([1], as: "root.pem")
        }

        #expect(fault?.name == "root.pem")
        #expect(fault?.description.contains("root.pem") == true)
    }

    @Test func `an authority is made once and read back`() async throws {
        let keys = try await TestWorld.keys.value
        let made = try await Authorities(keys: keys).authority(.sandbox)

        let again = try await Authorities(keys: keys).existing(.sandbox)

        #expect(again?.root == made.root)
        #expect(try await keys.read("sandbox/root.pem") == Array(made.rootPEM.utf8))
    }

    @Test func `a damaged authority is a fault, not a new authority`() async throws {
        let keys = MemoryKeyStore(["sandbox/authority.json": Array("{".utf8)])

        await #expect(throws: KeyStoreFault.self) {
            try await Authorities(keys: keys).authority(.sandbox)
        }
    }

    @Test func `a store without an authority of its own kind reports it`() async throws {
        let keys = MemoryKeyStore()

        #expect(try await Authorities(keys: keys).existing(.production) == nil)
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }
}
