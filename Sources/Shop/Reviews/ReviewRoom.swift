// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Customers' reviews of apps, and the requests for them.
public struct ReviewRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Customers' reviews of apps, and the requests for them.
    public var reviews: ReviewRoom { ReviewRoom(realm: self) }
}

/// What a device asks and sends.
extension ReviewRoom {
    /// Decides by ``Commerce/ReviewPolicy`` whether the device asks the customer for a
    /// review. A yes is counted in the commit that gives it. Refusal: `bundleIdUnknown`.
    public func ask(
        _ question: ReviewQuestion, _ session: DeviceSession, _ context: RequestContext
    ) async throws -> ReviewQuestionResponse {
        let app = try await realm.catalogue.app(session.bundleID.value)
        let now = session.clock.now(wall: realm.ports.wall.now)
        let setting: ReviewPolicy.Setting =
            question.isBeta == true ? .beta : realm.isProduction ? .released : .development
        let (customer, version) = (SQLValue.integer(session.customer.value), session.appVersion)
        let key: [SQLValue] = [.text(session.bundleID.value), customer]
        let asks = try await realm.bookkeepingAtHome { writing -> Ending<Bool> in
            let past = try Self.past(key, customer, writing)
            guard ReviewPolicy.asks(past, version: version, in: setting, at: now) else {
                return .leave(false)
            }
            try writing.execute(
                Statement.Reviews.countRequest, key + [.integer(now.milliseconds)])
            return .commit(true)
        }
        return ReviewQuestionResponse(asks: asks, appName: app.name)
    }

    /// Locks the customer's requests of the app.
    private static func past(
        _ key: [SQLValue], _ customer: SQLValue, _ writing: any Writing
    ) throws -> ReviewPolicy.Past {
        let requests = try writing.first(Statement.Reviews.lockRequests, key)
        let dates = try ["asked_at", "asked_before", "asked_first"].compactMap {
            try requests?.optionalInteger($0).map(Timestamp.init(milliseconds:))
        }
        let review = try writing.first(Statement.Reviews.one, key).map(ReviewRow.init(row:))
        let refusal = try writing.first(Statement.Reviews.refusal, [customer])
        return ReviewPolicy.Past(
            asked: dates, ratedVersion: review?.appVersion, ratedAt: review?.reviewedAt,
            isSwitchedOff: refusal != nil)
    }

    /// Records the customer's review of the session's app in place of an earlier one,
    /// with its answer. Refusals, in order: `starsInvalid`, `reviewTextInvalid`.
    public func write(
        _ request: ReviewRequest, _ session: DeviceSession, _ context: RequestContext
    ) async throws -> ReviewResponse {
        guard (1...5).contains(request.stars) else {
            throw Refusal(
                .badRequest, code: "starsInvalid", "A review has 1 to 5 stars.", field: "stars",
                rule: "1 to 5", remedy: "send one of these numbers")
        }
        let text = request.text?.isEmpty == true ? nil : request.text
        try text.map { try Self.check($0) }
        let now = session.clock.now(wall: realm.ports.wall.now)
        let customer = SQLValue.integer(session.customer.value)
        let name = try await realm.read(of: session.customer) {
            try $0.first(Statement.Customers.byID, [customer])?.text("name")
        }
        let row = RealmSchema.reviews.row([
            "bundle_id": .text(session.bundleID.value), "customer_id": customer,
            "stars": .integer(Int64(request.stars)), "body": .optional(text),
            "reviewer": .text(ReviewerName.shown(name ?? "")),
            "app_version": .text(session.appVersion), "reviewed_at": .integer(now.milliseconds),
        ])
        try await realm.bookkeepingAtHome {
            .commit(try $0.execute(Statement.Reviews.put, row))
        }
        realm.ports.log(.info, "reviewed", context, session.facts)
        return ReviewResponse(stars: request.stars, text: text, reviewedDate: now)
    }

    static func check(_ text: String) throws {
        guard ReviewText.isText(text), !VisibleText.isBlank(text) else {
            throw Refusal(
                .badRequest, code: "reviewTextInvalid", "The text cannot be shown.",
                field: "text", rule: ReviewText.rule + ", not blank",
                remedy: "shorten it, or leave these characters out")
        }
    }
}
