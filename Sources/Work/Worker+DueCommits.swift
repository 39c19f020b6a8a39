// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The commits of inner work. One serves many customers. While it is written, what the
/// next one will write is worked out on another thread.
extension Worker {
    /// One piece, prepared for a commit.
    struct Piece: Sendable {
        let work: DueWork
        let commit: any DueWorkCommit<Context.Line>
        var foresight: Foresight<Context.Line.Basis>?
    }

    /// Does pieces of different customers, in this order, in commits of as many
    /// as the context says. Leaves the rest when it meets another worker. Throws if
    /// the database does not answer. `begin`: writes down, in the commit before, what each
    /// commit but the first will come to, or returns false if it must not be made.
    func work(
        off works: [DueWork], in index: Int,
        begin: @escaping @Sendable (_ last: DueWork, any Writing) throws -> Bool
    ) async throws -> DueWorkRound {
        // All numbers are drawn first, so that their order does not depend on which
        // thread is faster.
        var turns: [(works: [DueWork], pieces: [Piece])] = []
        let size = context.customersOfCommit
        for start in stride(from: 0, to: works.count, by: size) {
            let some = Array(works[start..<min(start + size, works.count)])
            turns.append((some, try await prepare(some)))
        }
        var whole = DueWorkRound()
        while let turn = turns.first {
            turns.removeFirst()
            let following = turns.first?.pieces ?? []
            async let ahead = foresee(following, in: index)
            let ending = turns.first?.works.last.map { last in
                { @Sendable (writing: any Writing) in try begin(last, writing) }
            }
            whole += try await work(off: turn.pieces, in: index, ending: ending)
            let next = await ahead
            guard whole.doneElsewhere == 0, whole.mayGoOn else { break }
            if !turns.isEmpty { turns[0].pieces = next }
        }
        for piece in turns.flatMap(\.pieces) { piece.commit.finish(isWritten: false) }
        return whole
    }

    /// Does one piece for each of several customers in one commit. If this
    /// fails, each piece gets its own commit, so that one does not delay the
    /// others. Throws if the database does not answer. `ending`: what is written at the end,
    /// and whether another commit may follow.
    private func work(
        off pieces: [Piece], in index: Int,
        ending: (@Sendable (any Writing) throws -> Bool)?
    ) async throws -> DueWorkRound {
        let storage = context.databases[index]
        if pieces.count > 1 {
            do { return try await write(pieces, in: storage, ending: ending) } catch {
                if let fault = error as? StorageFault, Context.isAway(fault) { throw fault }
            }
        }
        var whole = DueWorkRound()
        for piece in pieces {
            do {
                whole +=
                    pieces.count == 1
                    ? try await write(pieces, in: storage)
                    : try await round(of: piece.work, in: storage)
            } catch {
                if let fault = error as? StorageFault, Context.isAway(fault) { throw fault }
                whole.failed.append(piece.work.customer)
                context.report(
                    .error, "due work failed",
                    ["kind": piece.work.kind, "fault": "\(error)"])
            }
        }
        if let ending { whole.mayGoOn = try await storage.write(ending) }
        return whole
    }

    /// Does one piece in a commit of its own.
    func round(of work: DueWork, in storage: any Storage) async throws -> DueWorkRound {
        try await write(prepare([work]), in: storage)
    }

    /// Draws what the pieces need. Their customers are in a fixed order, so that two
    /// workers that lock their lines cannot deadlock.
    private func prepare(_ works: [DueWork]) async throws -> [Piece] {
        var pieces: [Piece] = []
        let kinds = Dictionary(grouping: works, by: \.kind)
        for (kind, ofKind) in kinds.sorted(by: { $0.key < $1.key }) {
            guard let handler = context.dueWorkHandlers[kind] else { continue }
            let sorted = ofKind.sorted { $0.customer.value < $1.customer.value }
            pieces += zip(sorted, try await handler.prepare(sorted, in: context))
                .map { Piece(work: $0, commit: $1) }
        }
        return pieces.sorted { $0.work.customer.value < $1.work.customer.value }
    }

    /// Makes one commit, without the pieces that another worker has done in the
    /// meantime.
    private func write(
        _ pieces: [Piece], in storage: any Storage,
        ending: (@Sendable (any Writing) throws -> Bool)? = nil
    ) async throws -> DueWorkRound {
        var (round, pieces) = (DueWorkRound(), pieces)
        let wall = context.wall
        while !pieces.isEmpty {
            let turn = pieces
            // After a fault it is unknown what was written, so nothing is given
            // back.
            let written = try await storage.writeOrLeave {
                writing -> Ending<(absence: Absence?, mayGoOn: Bool)> in
                if let absence = try Self.write(turn, wall: wall, writing) {
                    return .leave((absence, true))
                }
                return .commit((nil, try ending?(writing) ?? true))
            }
            guard let absence = written.answer.absence else {
                round.mayGoOn = written.answer.mayGoOn
                break
            }
            for index in absence.places.reversed() {
                let piece = pieces.remove(at: index)
                piece.commit.finish(isWritten: false)
                if absence.isOfCustomers {
                    round.failed.append(piece.work.customer)
                } else {
                    round.doneElsewhere += 1
                }
            }
        }
        // What follows must be noted, also when no piece was left to write.
        if pieces.isEmpty, let ending { round.mayGoOn = try await storage.write(ending) }
        for piece in pieces {
            piece.commit.finish(isWritten: true)
            context.wake(piece.work.customer)
            context.report(
                .info, "due work",
                ["kind": piece.work.kind, "customer": piece.work.customer.description])
        }
        round.done = pieces.count
        return round
    }

    /// Writes the pieces of one commit. What they read is read together. Leaves the
    /// commit if a piece is absent, because a line without a change would make a gap in
    /// the revisions.
    private static func write(
        _ pieces: [Piece], wall: Timestamp, _ writing: any Writing
    ) throws -> Absence? {
        let found = try Context.lines(of: pieces.map(\.work.customer), wall: wall, writing)
        let lines = found.compactMap(\.self)
        guard lines.count == found.count else {
            return Absence(places: found.indices.filter { found[$0] == nil }, isOfCustomers: true)
        }
        // The clock may have been set back since the work was found.
        let early = pieces.indices.filter { pieces[$0].work.dueAt > lines[$0].now }
        guard early.isEmpty else { return Absence(places: early) }
        let gone = try DueWork.take(pieces.map(\.work), writing)
        guard gone.isEmpty else { return Absence(places: gone) }
        let isForeseen = zip(pieces, lines).map { $0.foresight?.basis == $1.basis }
        let answers = try answers(
            to: pieces.indices.filter { !isForeseen[$0] }, of: pieces, writing)
        for (index, piece) in pieces.enumerated() {
            if isForeseen[index], let foresight = piece.foresight {
                for write in foresight.writes {
                    try writing.execute(write.statement, write.values)
                }
            } else {
                try piece.commit.write(piece.work, lines[index], answer: answers[index] ?? [])
            }
        }
        return nil
    }

    /// The answers to the questions of the pieces at some places, by place.
    private static func answers(
        to places: [Int], of pieces: [Piece], _ reading: any Reading
    ) throws -> [Int: [Row]] {
        let asked = places.compactMap { index in
            pieces[index].commit.question(pieces[index].work)
                .map { (index: index, question: $0) }
        }
        var answers: [Int: [Row]] = [:]
        for (statement, group) in Dictionary(grouping: asked, by: \.question.statement) {
            let rows = try reading.queryEach(statement, group.map(\.question.values))
            for (one, row) in zip(group, rows) { answers[one.index] = row }
        }
        return answers
    }

    /// Works out what pieces will write, as far as that can be foreseen.
    private func foresee(_ pieces: [Piece], in index: Int) async -> [Piece] {
        guard pieces.contains(where: \.commit.isForeseeable) else { return pieces }
        let wall = context.wall
        // What fails here fails again in its commit, and is reported there.
        let foreseen = try? await context.databases[index].read { reading in
            try Self.foresee(pieces, wall: wall, reading)
        }
        return foreseen ?? pieces
    }

    private static func foresee(
        _ pieces: [Piece], wall: Timestamp, _ reading: any Reading
    ) throws -> [Piece] {
        let lines = try Context.foreseenLines(
            of: pieces.map(\.work.customer), wall: wall, Draft(reading))
        let places = pieces.indices.filter {
            lines[$0] != nil && pieces[$0].commit.isForeseeable
        }
        let answers = try answers(to: places, of: pieces, reading)
        var foreseen = pieces
        for index in places {
            let (piece, draft) = (pieces[index], Draft(reading))
            guard let line = lines[index]?.with(draft) else { continue }
            do {
                try piece.commit.write(piece.work, line, answer: answers[index] ?? [])
            } catch { continue }
            foreseen[index].foresight = Foresight(basis: line.basis, writes: draft.writes)
        }
        return foreseen
    }
}

/// Why a commit must be made again without some of its pieces.
private struct Absence: Sendable {
    /// In ascending order.
    let places: [Int]
    /// Whether there are no such customers. Otherwise another worker has done the pieces,
    /// or they are not due any more.
    var isOfCustomers = false
}

/// The results of some pieces of work.
struct DueWorkRound {
    /// Done by this call.
    var done = 0
    var doneElsewhere = 0
    var failed: [CustomerID] = []
    /// Whether the next commit may be made: the clock was not moved meanwhile.
    var mayGoOn = true

    var hasMoved: Bool { done + doneElsewhere > 0 }

    static func += (whole: inout Self, part: Self) {
        whole.done += part.done
        whole.doneElsewhere += part.doneElsewhere
        whole.failed += part.failed
        whole.mayGoOn = whole.mayGoOn && part.mayGoOn
    }
}
