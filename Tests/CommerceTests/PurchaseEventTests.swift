// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

@Suite struct PurchaseEventTests {
    /// The total is 5.97 in dollars, and the new transaction is 9; 7 is owned.
    /// `how`: asked, asked of a child, asked of an interrupted customer, approved,
    /// reserved with a sum.
    private static let table = """
        how        decision   state         transaction  total  debt
        asked      refuse     refused       -            -      -
        asked      owned      sold          7            -      -
        asked      join       joined        -            -      -
        asked      sell       sold          9            5970   -
        asked      authorise  authorising   -            5970   -
        child      refuse     refused       -            -      -
        child      owned      sold          7            -      -
        child      join       joined        -            -      -
        child      sell       waiting:approval   -       -      -
        child      authorise  waiting:approval   -       -      -
        attention  sell       waiting:attention  -       -      -
        both       sell       waiting:approval   -       -      -
        approved   refuse     refused       -            -      -
        approved   owned      sold          7            -      -
        approved   sell       sold          9            5970   -
        approved   authorise  authorising   -            5970   -
        5970       refuse     refused       -            -      void
        5970       owned      sold          7            -      void
        5970       sell       priceChanged  -            -      void
        5970       authorise  sold          9            5970   capture
        5960       authorise  priceChanged  -            -      void
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `a decision becomes one event`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let event = try Self.event(words[0], try Self.decision(words[1]))

        #expect(Self.word(event.state) == words[2])
        #expect(event.transaction.map(\.description) ?? "-" == words[3])
        #expect(event.total.map { "\($0.amount.milliunits)" } ?? "-" == words[4])
        #expect(event.debt.map { "\($0)" } ?? "-" == words[5])
        let isReserved = Int(words[0]) != nil
        #expect(event.reference == (isReserved ? "r" : nil))
        #expect(event.approval == (words[0] == "approved" ? .approved : nil))
        #expect(
            event.cause == (isReserved ? .processor : words[0] == "approved" ? .approval : .request)
        )
    }

    /// Not that of a payment that is still open, nor what the processor itself has said.
    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `where charges may be lost, what ends without a sale owes its own`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let event = try Self.event(words[0], try Self.decision(words[1]))
        let isOver = ["refused", "sold", "joined"].contains(words[2]) && words[3] != "9"
        let owesNew = isOver && Int(words[0]) == nil

        let giving = event.givingBackWhatWasLost

        #expect(giving.debt == (owesNew ? .void : event.debt))
        #expect(giving.result == event.result && giving.approval == event.approval)
    }

    @Test func `an answer without a decision refuses`() {
        let declined = PurchaseEvent.notApproved(isTimedOut: false)
        #expect(declined.state == .refused(.approvalDeclined) && declined.approval == .declined)
        let late = PurchaseEvent.notApproved(isTimedOut: true)
        #expect(late.state == .refused(.approvalTimedOut) && late.approval == .timedOut)
        #expect(PurchaseEvent.declined.state == .refused(.declined))
        #expect(PurchaseEvent.declined.debt == nil)
        let unwritten = PurchaseEvent.unwritten("r")
        #expect(unwritten.state == .refused(.notRecorded))
        #expect(unwritten.debt == .void && unwritten.reference == "r")
    }

    private static func event(_ how: String, _ decision: PurchaseDecision) throws -> PurchaseEvent {
        let id = TransactionID(9)
        return switch how {
        case "asked": .asked(decision, as: id)
        case "child": .asked(decision, PurchaseHurdles(lacksApproval: true), as: id)
        case "attention": .asked(decision, PurchaseHurdles(needsAttention: true), as: id)
        case "both":
            .asked(decision, PurchaseHurdles(lacksApproval: true, needsAttention: true), as: id)
        case "approved": .approved(decision, as: id)
        default:
            .reserved(Amount(milliunits: try #require(Int64(how))), "r", decision, as: id)
        }
    }

    private static func decision(_ word: String) throws -> PurchaseDecision {
        let product = Product(
            id: "a", kind: .consumable, referenceName: "", price: Amount(milliunits: 1990),
            localizations: [])
        let sale = Sale(
            product: product, quantity: 3, storefront: try #require(Storefront.named("USA")))
        return switch word {
        case "refuse": .refuse(.purchasesNotAllowed)
        case "owned": .deliverOwned(TransactionID(7))
        case "join": .join(PurchaseID("p"))
        case "sell": .sell(sale)
        default: .authorise(sale)
        }
    }

    private static func word(_ state: PurchaseState) -> String {
        switch state {
        case .asked: "asked"
        case .authorising: "authorising"
        case .sold: "sold"
        case .refused(.priceChanged): "priceChanged"
        case .refused: "refused"
        case .joined: "joined"
        case .waiting(let reason): "waiting:\(reason.rawValue)"
        }
    }
}
