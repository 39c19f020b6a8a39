// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Never lost, never twice: every port call of a purchase, cut before and after.
@Suite(.unforgiven, .timeLimit(.minutes(15))) struct CutTests {
    @Test(arguments: [(false, false), (true, false), (true, true)])
    func `a purchase cut anywhere is paid once and delivered until finished`(
        hasProcessor: Bool, asksToBuy: Bool
    ) async throws {
        func story(_ cut: Cut?) -> CutRun {
            CutRun("pro", cut: cut, hasProcessor: hasProcessor, asksToBuy: asksToBuy)
        }
        let uncut = story(nil)
        #expect(try await uncut.run() == [])
        let calls = uncut.tape.calls
        #expect(calls.contains("processor.authorise") == hasProcessor)
        #expect(calls.contains("wire.purchase") && calls.contains("wire.finish"))
        #expect(calls.contains("realm.write") && calls.contains("files.replace"))

        var fired = 0
        let cuts = Cut.everywhere(calls.count)
        for cut in cuts {
            let run = story(cut)
            let complaints = try await run.run()
            #expect(complaints == [], "\(cut), \(calls[cut.index])")
            fired += run.tape.hasFired ? 1 : 0
        }
        // A parent answers while the device runs: now and then a call that the
        // uncut run made is not needed.
        #expect(asksToBuy ? fired > cuts.count - 8 : fired == cuts.count)
        print("cut \(calls.count) port calls on both sides: \(fired) cuts fired")
    }

    /// Some of the cuts only: the store's own tests cut every call on both engines.
    @Test(.enabled(if: !TestEngine.isOnPostgres, "all of them are on PostgreSQL"))
    func `a purchase on PostgreSQL is cut here and there`() async throws {
        func story(_ cut: Cut?) -> CutRun {
            CutRun(
                "pro", cut: cut, hasProcessor: true, asksToBuy: true,
                engine: TestEngine(isOnPostgres: true))
        }
        let uncut = story(nil)
        #expect(try await uncut.run() == [])
        let calls = uncut.tape.calls

        for index in SeededShare.of(calls.indices, oneIn: 9) {
            let cut = Cut(index: index, side: index.isMultiple(of: 2) ? .before : .after)
            #expect(try await story(cut).run() == [], "\(cut), \(calls[index])")
        }
    }

    /// Of the auditor, whatever the engine.
    @Test(arguments: Flaw.allCases)
    func `the auditor finds what is wrong with a world`(flaw: Flaw) async throws {
        let engine = TestEngine(isOnPostgres: false)
        let uncut = CutRun("credits.5", cut: nil, hasProcessor: true, engine: engine)
        #expect(try await uncut.run() == [])

        var complaints: [String] = []
        for cut in Cut.all(uncut.tape.calls.count) where !complaints.contains(flaw.complaint) {
            let run = CutRun("credits.5", cut: cut, hasProcessor: true, flaw: flaw, engine: engine)
            complaints = try await run.run()
        }
        #expect(complaints.contains(flaw.complaint), "\(complaints)")
    }
}

extension Flaw {
    /// What the auditor must say of it.
    fileprivate var complaint: String {
        switch self {
        case .purchaseIDsForgotten: "2 transactions, and 1 were due"
        case .writesNotSynced: "0 transactions, and 1 were due"
        case .chargeKeysForgotten: "2 charges for 1 transactions"
        }
    }
}

extension Cut {
    /// A third of them that the run's seed draws, and on PostgreSQL a fifth,
    /// because a run takes many times as long there.
    static func everywhere(_ calls: Int) -> [Cut] {
        SeededShare.of(all(calls), oneIn: TestEngine.isOnPostgres ? 5 : 3)
    }

    /// Both sides of every call.
    static func all(_ calls: Int) -> [Cut] {
        (0..<calls).flatMap { index in
            Cut.Side.allCases.map { Cut(index: index, side: $0) }
        }
    }
}
