// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// Hosted content: the operators' uploads, and the packages behind signed links.
struct ContentDoor: Sendable {
    let visit: Visit

    init(_ visit: Visit) { self.visit = visit }

    /// Answers a link to a package.
    func package() async throws -> Response {
        let (sha256, call) = (visit.parts.raw[0], visit.call)
        let reader = try await visit.store.openContent(sha256) { call.query($0) }
        return try FileAnswer(length: reader.length, tag: sha256, type: "application/zip") {
            try await reader.read(at: $0, count: $1)
        }.response(to: call)
    }

    private var product: (app: String, id: String) { (visit.parts[0], visit.parts[1]) }

    func list() async throws -> Response {
        try .json(
            try await visit.realm.content.list(
                bundleID: visit.parts[0], product: visit.query("productId"),
                after: visit.query("after"), limit: try visit.limit()))
    }

    /// 201 for a new upload, 200 for one that continues.
    func begin() async throws -> Response {
        let (record, isNew) = try await visit.realm.content.begin(
            try await visit.body(), product: product.id, bundleID: product.app, visit.context)
        return try .json(record, status: isNew ? 201 : 200)
    }

    func version() async throws -> Response {
        try .json(
            try await visit.realm.content.version(
                visit.parts[2], product: product.id, bundleID: product.app,
                readsBytes: visit.query("check") == "true"))
    }

    func piece() async throws -> Response {
        guard let offset = visit.query("offset").flatMap({ Int64($0) }), offset >= 0 else {
            throw RequestMistake.queryInvalid(
                field: "offset", rule: "a number of bytes from 0",
                remedy: "send what the store has received")
        }
        let bytes = try await visit.call.bodyBytes(max: ContentRoom.pieceBytesMax)
        return try .json(
            try await visit.realm.content.append(
                bytes, at: offset, to: visit.parts[2], product: product.id,
                bundleID: product.app))
    }

    /// 200 for a version that is ready, 202 while it is checked.
    func complete() async throws -> Response {
        let record = try await visit.realm.content.complete(
            visit.parts[2], product: product.id, bundleID: product.app, visit.context)
        return try .json(record, status: record.state == "ready" ? 200 : 202)
    }

    func remove() async throws -> Response {
        try await visit.realm.content.remove(
            visit.parts[2], product: product.id, bundleID: product.app, visit.context)
        return .done
    }
}
