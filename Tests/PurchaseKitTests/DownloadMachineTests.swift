// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import PurchaseKit

/// The rules of a download, without files and network.
@Suite(.timeLimit(.minutes(5)))
struct DownloadMachineTests {
    private var machine = DownloadMachine(DownloadRecord(), isUnpacked: false)

    private static func link(_ version: String, length: Int64 = 100) -> ContentLink {
        ContentLink(
            productId: "level.two", version: version, length: length, sha256: "of \(version)",
            url: "/content/\(version)", expiresDate: Timestamp(milliseconds: 0))
    }

    /// Applies events one after the other, and returns the actions of the last one.
    @discardableResult
    private mutating func apply(
        _ events: DownloadMachine.Event..., seconds: Int64 = 0
    ) -> [DownloadMachine.Action] {
        var actions: [DownloadMachine.Action] = []
        for event in events {
            actions = machine.apply(event, at: Timestamp(milliseconds: seconds * 1000))
        }
        return actions
    }

    @Test mutating func `the straight way`() {
        #expect(apply(.started) == [.save, .queue])
        #expect(machine.state == .waiting)
        #expect(apply(.admitted(bytes: 0)) == [.link(version: nil)])
        #expect(machine.state == .active)
        let link = Self.link("1")
        #expect(apply(.linked(link)) == [.save, .fetch(link, from: 0)])
        #expect(apply(.began(at: 0), .received(total: 50)) == [])
        #expect(machine.progress == 0.5)
        #expect(apply(.fetched(total: 100, .ended)) == [.save, .check(sha256: "of 1")])
        #expect(apply(.checked(isGenuine: true)) == [.save, .unpack])
        #expect(apply(.unpacked) == [.save, .stop])
        #expect(machine.state == .finished)
        #expect(machine.progress == 1)
        #expect(apply(.started) == [], "what is finished is not started again")
    }

    @Test mutating func `a lost connection goes on behind what arrived`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")), .began(at: 0))

        #expect(apply(.fetched(total: 40, .ended)) == [.save, .nap(failures: 0)])
        #expect(apply(.linked(Self.link("1"))) == [.fetch(Self.link("1"), from: 40)])
    }

    @Test mutating func `attempts without a byte end, and a byte forgives them`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")))
        for _ in 1..<DownloadMachine.attemptsMax { apply(.fetched(total: 0, .unavailable)) }
        apply(.fetched(total: 1, .ended))
        #expect(machine.state == .active)

        for _ in 1..<DownloadMachine.attemptsMax { apply(.fetched(total: 1, .unavailable)) }

        #expect(machine.state == .failed)
        #expect(machine.failure?.code == .network)
        #expect(apply(.started) == [.save, .queue], "it can be started again")
        #expect(machine.failure == nil)
    }

    @Test mutating func `the version that was begun goes on, and another one starts anew`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")), .paused)
        #expect(machine.record.version == "1")
        apply(.started)
        #expect(apply(.admitted(bytes: 40)) == [.link(version: "1")])

        #expect(apply(.linked(Self.link("1"))) == [.fetch(Self.link("1"), from: 40)])
        apply(.fetched(total: 40, .linkRefused))
        let newer = Self.link("2", length: 200)
        #expect(apply(.linked(newer)) == [.truncate(to: 0), .save, .fetch(newer, from: 0)])
        #expect(machine.record.version == "2")
        #expect(machine.record.length == 200)
    }

    @Test mutating func `damaged content is fetched again, three times at most`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")))
        for _ in 1..<DownloadMachine.corruptionsMax {
            apply(.fetched(total: 100, .ended))
            #expect(
                apply(.checked(isGenuine: false))
                    == [.truncate(to: 0), .save, .link(version: "1")])
            apply(.linked(Self.link("1")))
        }
        apply(.fetched(total: 100, .ended))
        #expect(apply(.checked(isGenuine: false)) == [.truncate(to: 0), .save, .stop])

        #expect(machine.state == .failed)
        #expect(machine.failure?.code == .storeFault)
    }

    @Test mutating func `after a power failure only what was not synced is fetched again`() {
        var record = DownloadRecord()
        record.version = "1"
        record.length = 100
        record.sha256 = "of 1"
        record.syncedBytes = 60
        record.isWanted = true
        machine = DownloadMachine(record, isUnpacked: false)
        apply(.started)

        #expect(apply(.admitted(bytes: 100)) == [.check(sha256: "of 1")])
        #expect(
            apply(.checked(isGenuine: false))
                == [.truncate(to: 60), .save, .link(version: "1")])
        #expect(apply(.linked(Self.link("1"))) == [.fetch(Self.link("1"), from: 60)])
    }

    @Test mutating func `a server without ranges begins again`() {
        apply(.started, .admitted(bytes: 40), .linked(Self.link("1")))
        apply(.began(at: 0))

        #expect(machine.progress == 0)
    }

    @Test mutating func `a refused link is replaced at once, and a wrong range begins again`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")), .began(at: 0))
        apply(.received(total: 40))

        #expect(apply(.fetched(total: 40, .linkRefused)) == [.save, .link(version: "1")])
        #expect(apply(.fetched(total: 40, .linkRefused)) == [.save, .nap(failures: 1)])
        #expect(
            apply(.fetched(total: 40, .outOfRange))
                == [.truncate(to: 0), .save, .nap(failures: 2)])
    }

    @Test(arguments: [
        DownloadMachine.Event.linked(link("1")), .fetched(total: 100, .ended),
        .checked(isGenuine: true), .unpacked, .received(total: 100),
    ])
    mutating func `what comes after a pause changes nothing`(_ event: DownloadMachine.Event) {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")))
        #expect(apply(.paused) == [.save, .stop])

        #expect(apply(event) == [])
        #expect(machine.state == .paused)
        #expect(apply(.paused) == [])
    }

    @Test mutating func `a pause after the last byte goes on with the digest`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")))
        apply(.fetched(total: 100, .ended), .paused, .started)

        #expect(apply(.admitted(bytes: 100)) == [.check(sha256: "of 1")])
    }

    @Test mutating func `a cancelled download has nothing, and is cancelled once`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")))

        #expect(apply(.cancelled) == [.stop, .discard])
        #expect(apply(.cancelled) == [])
        #expect(machine.state == .cancelled)
        apply(.started)
        #expect(apply(.admitted(bytes: 0)) == [.link(version: nil)])
    }

    @Test mutating func `a full disk fails it, and it goes on where it was`() {
        apply(.started, .admitted(bytes: 0), .linked(Self.link("1")))
        apply(.failed(PaymentFailure(.disk, "The disk is full.")))
        #expect(machine.state == .failed)

        apply(.started, .admitted(bytes: 70))

        #expect(apply(.linked(Self.link("1"))) == [.fetch(Self.link("1"), from: 70)])
    }

    @Test mutating func `the time that remains is by the speed of this transfer`() {
        apply(.started, .admitted(bytes: 20), .linked(Self.link("1")), .began(at: 20))
        apply(.received(total: 21), seconds: 0)
        #expect(machine.timeRemaining == nil)

        apply(.received(total: 40), seconds: 5)

        #expect(machine.timeRemaining == 15)
        apply(.paused)
        #expect(machine.timeRemaining == nil)
    }

    @Test func `a record says how a launch begins`() {
        var record = DownloadRecord()
        #expect(DownloadMachine(record, isUnpacked: false).state == .waiting)
        record.sha256 = "of 1"
        #expect(DownloadMachine(record, isUnpacked: false).state == .paused)
        record.isWanted = true
        #expect(DownloadMachine(record, isUnpacked: false).state == .waiting)
        record.isWhole = true
        #expect(DownloadMachine(record, isUnpacked: true).state == .finished)
        #expect(DownloadMachine(record, isUnpacked: false).state == .waiting)
    }
}
