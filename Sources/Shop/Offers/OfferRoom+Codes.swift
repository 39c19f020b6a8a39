// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Makes, lists and switches off codes. Each change is audited.
extension OfferRoom {
    /// Makes codes for an offer: one that customers share, with a text of its own
    /// and a limit, or several that one customer each redeems. Refusals, in order:
    /// `bundleIdUnknown`, `offerCodeInvalid`, `countInvalid`, `limitInvalid`,
    /// `dateInvalid`, `productIdUnknown`, `offerUnknown`, `codeExists`.
    public func createCodes(
        _ request: CreateOfferCodesRequest, bundleID: String, _ context: RequestContext
    ) async throws -> OfferCodeList {
        let app = BundleID(bundleID)
        let shelf = try await realm.loadShelf()
        guard shelf.apps[app] != nil else { throw Self.unknownApp }
        let now = try await now()
        let wanted = try WantedCodes(request)
        let limit = try Self.limit(request)
        if let end = request.expiresDate, end <= now || end > RealmClock.latest {
            throw Refusal(
                .badRequest, code: "dateInvalid", "Codes cannot expire then.",
                field: "expiresDate",
                rule: "after the realm's clock (\(now)), and before \(RealmClock.latest)",
                remedy: "send a later date, or leave it out")
        }
        let terms = try Self.terms(of: request.productId, in: shelf, app)
        guard terms.codeOffers.contains(where: { $0.name(as: .code) == request.offer }) else {
            throw Refusal(
                .notFound, code: "offerUnknown", "The subscription has no such offer for codes.",
                field: "offer", rule: "the label of an offer of the kind `code`",
                remedy: "list the product's offers, or add one")
        }
        return try await realm.house(.rows, context) { house -> Ending<OfferCodeList> in
            let codes = try codes(wanted, bundleID, house.writing)
            let batch = realm.uuid(for: "codes/\(bundleID)/\(codes.first?.text ?? "")")
            let made = codes.map { code in
                OfferCodeRecord(
                    code: code.text, bundleId: bundleID, productId: request.productId,
                    offer: request.offer, batch: batch, redemptionsMax: limit, redemptions: 0,
                    createdDate: now, expiresDate: request.expiresDate)
            }
            for record in made {
                try house.writing.execute(Statement.Offers.insertCode, Self.row(record))
            }
            try house.audit(
                "offerCode.create", batch, before: nil,
                after: [
                    "bundleId": bundleID, "productId": request.productId, "offer": request.offer,
                    "codes": "\(codes.count)",
                ])
            return .commit(OfferCodeList(codes: made))
        }
    }

    /// Returns the texts, of which the app has none yet. In a seeded realm those that are
    /// drawn depend on how many the app has had.
    private func codes(
        _ wanted: WantedCodes, _ bundleID: String, _ writing: any Writing
    ) throws -> [OfferCode] {
        switch wanted {
        case .named(let code):
            guard try !Self.isKnown(code, bundleID, writing) else { throw Self.codeExists }
            return [code]
        case .drawn(let count):
            let first = realm.seed == nil ? 0 : try Self.count(bundleID, writing)
            return try (first..<first + Int64(count)).map { number in
                let code = OfferCode(realm.randomness(for: "code/\(bundleID)/\(number)"))
                guard try !Self.isKnown(code, bundleID, writing) else { throw Self.codeExists }
                return code
            }
        }
    }

    private static func count(_ bundleID: String, _ reading: any Reading) throws -> Int64 {
        try reading.first(Statement.Offers.count, [.text(bundleID)])?.integer("codes") ?? 0
    }

    private static func isKnown(
        _ code: OfferCode, _ bundleID: String, _ reading: any Reading
    ) throws -> Bool {
        try reading.first(Statement.Offers.isKnown, [.text(bundleID), .text(code.text)]) != nil
    }

    private static func row(_ code: OfferCodeRecord) -> [SQLValue] {
        RealmSchema.offerCodes.row([
            "bundle_id": .text(code.bundleId), "code": .text(code.code),
            "product_id": .text(code.productId), "offer_name": .text(code.offer),
            "batch": .text(code.batch), "redemptions_max": .integer(code.redemptionsMax),
            "expires_at": .optional(code.expiresDate),
            "made_at": .integer(code.createdDate.milliseconds),
        ])
    }

    /// Returns a page of an app's codes, in their order. Refusals, in order:
    /// `bundleIdUnknown`, `cursorInvalid`.
    public func codes(
        ofApp bundleID: String, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> OfferCodeList {
        guard try await realm.loadShelf().apps[BundleID(bundleID)] != nil else {
            throw Self.unknownApp
        }
        guard after == nil || after.flatMap({ OfferCode(text: $0) })?.text == after else {
            throw ListPage.cursorInvalid("after")
        }
        let now = try await now()
        let values: [SQLValue] = [
            .text(bundleID), .text(after ?? ""), .integer(ListPage.limit(limit)),
        ]
        let rows = try await realm.readHouse { reading in
            try reading.query(Statement.Offers.page, values).map { try OfferCodeRow($0, at: now) }
        }
        let isFull = Int64(rows.count) == ListPage.limit(limit)
        return OfferCodeList(
            codes: rows.map { $0.record(of: bundleID) },
            next: isFull ? rows.last?.code.text : nil)
    }

    /// Switches off a code, or all codes that were made together. What was redeemed
    /// stays. Refusals, in order: `offerCodeUnknown`.
    public func deactivateCodes(
        _ codeOrBatch: String, bundleID: String, _ context: RequestContext
    ) async throws -> DeactivatedCodes {
        let name = UUIDText(codeOrBatch)?.text ?? OfferCode(text: codeOrBatch)?.text
        guard let name, !bundleID.utf8.contains(0) else { throw Self.unknownCode }
        let now = try await now()
        let count = try await realm.house(.rows, context) { house in
            let key: [SQLValue] = [.text(bundleID), .text(name)]
            let off = try house.writing.query(
                Statement.Offers.deactivate, key + [.integer(now.milliseconds)])
            guard !off.isEmpty else {
                guard try house.writing.first(Statement.Offers.isKnown, key) != nil else {
                    throw Self.unknownCode
                }
                return .leave(0)
            }
            try house.audit(
                "offerCode.deactivate", name, before: ["active": "\(off.count)"],
                after: ["active": "0"])
            return .commit(off.count)
        }
        return DeactivatedCodes(deactivated: count)
    }

    /// Returns a code, or nil if there is none.
    func code(_ code: OfferCode, of app: BundleID) async throws -> OfferCodeRow? {
        let now = try await now()
        let key: [SQLValue] = [.text(app.value), .text(code.text)]
        return try await realm.readHouse { reading in
            try reading.first(Statement.Offers.code, key).map { try OfferCodeRow($0, at: now) }
        }
    }

    private func now() async throws -> Timestamp {
        let wall = realm.ports.wall.now
        return try await realm.readHouse { try Realm.now($0, wall: wall) }
    }

    private static func limit(_ request: CreateOfferCodesRequest) throws -> Int64 {
        guard request.code != nil else {
            guard request.redemptionsMax == nil || request.redemptionsMax == 1 else {
                throw limitInvalid
            }
            return 1
        }
        let limit = request.redemptionsMax ?? OfferCode.redemptionsMax
        guard (1...OfferCode.redemptionsMax).contains(limit) else { throw limitInvalid }
        return limit
    }

    private static func terms(
        of product: String, in shelf: Shelf, _ app: BundleID
    ) throws -> SubscriptionTerms {
        guard let listed = shelf.apps[app]?.byID[ProductID(product)] else {
            throw Refusal(
                .notFound, code: "productIdUnknown", "The app has no such product.",
                field: "productId", rule: "an id of the app's catalogue",
                remedy: "list the products")
        }
        return listed.terms ?? SubscriptionTerms(groupID: "", level: 1, period: Period(1, .month))
    }

    private static var limitInvalid: Refusal {
        Refusal(
            .badRequest, code: "limitInvalid", "The code cannot be redeemed as often as that.",
            field: "redemptionsMax",
            rule: "1 to \(OfferCode.redemptionsMax), and 1 for codes without a text of their own",
            remedy: "send a number in this range, or leave it out")
    }

    private static var codeExists: Refusal {
        Refusal(
            .conflict, code: "codeExists", "The app has a code of this text.", field: "code",
            rule: "a text is one code's, also after that was switched off",
            remedy: "choose another text")
    }

    private static var unknownCode: Refusal {
        Refusal(
            .notFound, code: "offerCodeUnknown", "The app has no such code or batch.",
            field: "code", rule: "a code, or the batch of codes that were made together",
            remedy: "list the codes")
    }

    private static var unknownApp: Refusal {
        Refusal(
            .notFound, code: "bundleIdUnknown", "This realm has no such app.",
            field: "bundleId", rule: "the bundle id of an app of the realm",
            remedy: "list the apps")
    }
}

/// The codes that a request asks for.
private enum WantedCodes {
    /// One with a text of its own.
    case named(OfferCode)
    /// So many, whose texts are drawn.
    case drawn(Int)

    /// Refusals, in order: `offerCodeInvalid`, `countInvalid`.
    init(_ request: CreateOfferCodesRequest) throws {
        guard let text = request.code else {
            let count = request.count ?? 1
            guard (1...OfferCode.batchMax).contains(count) else {
                throw Refusal(
                    .badRequest, code: "countInvalid", "The number of codes is out of range.",
                    field: "count", rule: "1 to \(OfferCode.batchMax)",
                    remedy: "make them in several requests")
            }
            self = .drawn(count)
            return
        }
        guard let code = OfferCode(text: text) else {
            throw Refusal(
                .badRequest, code: "offerCodeInvalid", "This text cannot be a code.",
                field: "code", rule: OfferCode.rule, remedy: "send one such as `SPRING26`")
        }
        guard request.count == nil else {
            throw Refusal(
                .badRequest, code: "countInvalid", "A code with a text of its own is one code.",
                field: "count", rule: "either `code` or `count`", remedy: "leave one of them out")
        }
        self = .named(code)
    }
}

/// A code as its row contains it, at an instant.
struct OfferCodeRow: Sendable {
    let code: OfferCode
    let productID: ProductID
    let offerName: String
    let claims: Int64
    /// The instant for which it was read.
    let now: Timestamp
    private let batch: String
    private let redemptionsMax: Int64
    private let madeAt: Timestamp
    private let expiresAt: Timestamp?
    private let deactivatedAt: Timestamp?

    init(_ row: Row, at now: Timestamp) throws {
        guard let code = OfferCode(text: try row.text("code")) else {
            throw StorageFault(.malformedRow, "an offer code that cannot be read")
        }
        self.code = code
        self.now = now
        productID = ProductID(try row.text("product_id"))
        offerName = try row.text("offer_name")
        claims = try row.integer("claims")
        batch = try row.text("batch")
        redemptionsMax = try row.integer("redemptions_max")
        madeAt = Timestamp(milliseconds: try row.integer("made_at"))
        expiresAt = try row.optionalInteger("expires_at").map(Timestamp.init(milliseconds:))
        deactivatedAt = try row.optionalInteger("deactivated_at")
            .map(Timestamp.init(milliseconds:))
    }

    /// Whether one more customer may redeem it.
    var isUsable: Bool {
        deactivatedAt == nil && expiresAt.map { now < $0 } ?? true && claims < redemptionsMax
    }

    func record(of bundleID: String) -> OfferCodeRecord {
        OfferCodeRecord(
            code: code.text, bundleId: bundleID, productId: productID.value, offer: offerName,
            batch: batch, redemptionsMax: redemptionsMax, redemptions: claims,
            createdDate: madeAt, expiresDate: expiresAt, deactivatedDate: deactivatedAt)
    }
}
