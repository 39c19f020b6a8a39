// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Outbound

/// Whom a production realm's client calls, and whom it does not.
@Suite(.timeLimit(.minutes(5)))
struct GuardTests {
    private func code(_ url: String, _ policy: AddressPolicy) async -> OutboundFault.Code? {
        let client = OutboundClient(policy: policy)
        do throws(OutboundFault) {
            _ = try await client.send(OutboundRequest("POST", url))
            return nil
        } catch { return error.code }
    }

    @Test func `what is refused by its spelling`() async {
        let cases: [(String, AddressPolicy)] = [
            ("http://example.com/", .guarded), ("https://example.com:80/", .guarded),
            ("https://example.com:22/", .guarded), ("https://user@example.com/", .guarded),
            ("https://user:secret@example.com/", .open), ("ftp://example.com/", .open),
            ("file:///etc/passwd", .open), ("gopher://127.0.0.1:70/", .open),
            ("https://", .open), ("", .open), ("//example.com", .open),
            ("https://exa mple.com/", .open), ("https://example.com/\r\nX: y", .open),
            ("https://example.com:99999/", .open), ("https://exämple.com/", .open),
            ("https://example.com/" + String(repeating: "a", count: 2100), .open),
        ]
        for (url, policy) in cases { #expect(await code(url, policy) == .urlRefused, "\(url)") }
    }

    @Test func `no spelling of this machine passes the guard`() async throws {
        let peer = try ScriptedPeer(.hangUp)
        let hosts = [
            "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0", "[::1]",
            "[::ffff:127.0.0.1]", "[::]", "[64:ff9b::7f00:1]",
        ]
        for host in hosts {
            let code = await code("https://\(host):\(peer.port)/", .guarded)
            #expect(code == .addressRefused || code == .urlRefused, "\(host)")
        }
        #expect(peer.connections == 0)
    }

    @Test func `public addresses and addresses that are not`() {
        let table = """
            0.0.0.0          no
            10.1.2.3         no
            11.0.0.1         yes
            17.253.144.10    yes
            100.63.255.255   yes
            100.64.0.1       no
            100.127.255.255  no
            100.128.0.1      yes
            127.0.0.1        no
            169.254.169.254  no
            172.15.255.255   yes
            172.16.0.1       no
            172.31.255.255   no
            172.32.0.1       yes
            192.0.0.8        no
            192.0.2.1        no
            192.88.99.1      no
            192.168.255.255  no
            192.169.0.1      yes
            198.17.255.255   yes
            198.18.0.1       no
            198.19.255.255   no
            198.51.100.7     no
            203.0.113.7      no
            223.255.255.255  yes
            224.0.0.1        no
            255.255.255.255  no
            """
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            let bytes = words[0].split(separator: ".").compactMap { UInt8($0) }
            #expect(IPAddress(v4: bytes).isPublic == (words[1] == "yes"), "\(line)")
            let mapped = IPAddress(v6: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes)
            #expect(mapped.isPublic == (words[1] == "yes"), "mapped \(line)")
        }
    }

    @Test func `the same for version 6`() {
        let table = """
            0000000000000000 no
            0064ff9b00000000 no
            2001000000000000 no
            200101ff00000000 no
            2001020000000000 yes
            20010db800000000 no
            2001486048600000 yes
            2002a9fea9fe0000 no
            26202600000b0000 yes
            3fff000000000000 no
            3fff0fff00000000 no
            3fff100000000000 yes
            4000000000000000 no
            fc00000000000000 no
            fd12000000000000 no
            fe80000000000000 no
            ff02000000000000 no
            """
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            let digits = Array(words[0])
            let start = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0..<$0 + 2]), radix: 16)
            }
            let bytes = start + [UInt8](repeating: 0, count: 7) + [1]
            #expect(IPAddress(v6: bytes).isPublic == (words[1] == "yes"), "\(line)")
        }
    }
}
