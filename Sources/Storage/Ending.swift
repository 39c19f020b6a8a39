// SPDX-License-Identifier: Apache-2.0

/// How the closure of a write ends if there may be nothing to write.
public enum Ending<Answer: Sendable>: Sendable {
    /// Commits what was written.
    case commit(Answer)
    /// Rolls back what was written. Nothing is committed.
    case leave(Answer)

    public var answer: Answer {
        switch self {
        case .commit(let answer), .leave(let answer): answer
        }
    }

    /// The same ending with another answer.
    public func map<Other: Sendable>(_ transform: (Answer) throws -> Other) rethrows
        -> Ending<Other>
    {
        switch self {
        case .commit(let answer): .commit(try transform(answer))
        case .leave(let answer): .leave(try transform(answer))
        }
    }
}

extension Storage {
    /// Runs one transaction. The closure decides whether it commits or is
    /// rolled back. Both kinds of answer are equally durable, because a
    /// rolled-back answer is based on earlier commits. Throws like
    /// ``write(_:)``.
    public func writeOrLeave<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Ending<Answer>
    ) async throws -> Ending<Answer> {
        do {
            return .commit(
                try await write { writing in
                    switch try body(writing) {
                    case .commit(let answer): return answer
                    case .leave(let answer): throw Left(answer: answer)
                    }
                })
        } catch let left as Left<Answer> {
            return .leave(left.answer)
        }
    }
}

/// Carries an answer out of a write that is rolled back.
private struct Left<Answer: Sendable>: Error {
    let answer: Answer
}
