// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Storage
import Work

/// The words that the processes of one database send to each other after a
/// commit. They are hints: if one is lost, a device's next poll and the regular
/// checks of the worker make up for it.
extension Realm {
    /// Work may be due, because the clock was moved.
    private static let workWord = "work"
    /// All sessions have ended, because the realm was reset.
    private static let resetWord = "reset"
    /// A customer's word is this prefix and the customer's number.
    private static let customerPrefix: Character = "c"

    /// Wakes the requests that wait for a customer, after a successful commit:
    /// at once in this process, and by a word in the others.
    package func wake(_ customer: CustomerID) {
        hub.wake(customer)
        storage(of: customer).wake("\(Self.customerPrefix)\(customer)")
    }

    /// Makes the realm's workers check the clock.
    package func wakeWorkers() {
        ringAll()
        for storage in clusters.all { storage.wake(Self.workWord) }
    }

    /// Wakes all waiting requests after a successful commit, whatever their
    /// customer.
    func wakeEverybody() {
        hub.wakeAll()
        ringAll()
        for storage in clusters.all { storage.wake(Self.resetWord) }
    }

    /// Receives words until the realm is closed. Does not keep the realm alive.
    func hearWakes() -> Task<Void, Never> {
        let heard = zip(clusters.all, bells).map { (wakes: $0.wakes(), bell: $1) }
        let hub = hub
        return Task {
            await withDiscardingTaskGroup { group in
                for (wakes, bell) in heard {
                    group.addTask { await Self.hear(wakes, hub, bell) }
                }
            }
        }
    }

    private static func hear(
        _ wakes: AsyncStream<Wake>, _ hub: Waiters<CustomerID>, _ bell: WorkBell
    ) async {
        for await wake in wakes {
            switch wake {
            case .missed, .word(Self.resetWord):
                hub.wakeAll()
                bell.ring()
            case .word(Self.workWord):
                bell.ring()
            case .word(let word):
                if let customer = Self.customer(word) { hub.wake(customer) }
            }
        }
    }

    /// Returns the customer of a word. Nil for words of newer programs.
    private static func customer(_ word: String) -> CustomerID? {
        guard word.first == customerPrefix else { return nil }
        return Edge.number(String(word.dropFirst())).map { CustomerID($0) }
    }
}
