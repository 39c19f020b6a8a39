// SPDX-License-Identifier: Apache-2.0

import CatalogueFile
import Commerce
import YAMLFile
import Yams

/// Reads an overlay and collects its problems. An unknown key is an error,
/// because it would have no effect.
struct OverlayReader {
    let file: String
    private(set) var problems: [CatalogueProblem] = []

    init(file: String) {
        self.file = file
    }

    /// The document's mapping. Nil if it is empty or invalid.
    mutating func root(_ bytes: [UInt8]) -> Node? {
        guard bytes.count <= CatalogueOverlay.bytesMax else {
            refuse("", "an overlay has at most \(CatalogueOverlay.bytesMax) bytes", "shorten it")
            return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard Array(text.utf8) == bytes, !text.utf8.contains(0) else {
            refuse("", "an overlay is UTF-8 without U+0000", "save it as UTF-8")
            return nil
        }
        if let broken = PlainYAML.broken(by: text) {
            refuse("", broken.rule, "write the values out, one below the other")
            return nil
        }
        do {
            return try compose(yaml: text)
        } catch {
            refuse("", "the file is not YAML: \(error)", "check it with a YAML linter")
            return nil
        }
    }

    mutating func read(_ root: Node, into overlay: inout CatalogueOverlay) {
        for (key, value) in pairs(root, "") {
            switch key {
            case "app": app(value, into: &overlay)
            case "products":
                for (id, entry) in pairs(value, "products") {
                    overlay.listings[ProductID(id)] = listing(entry, "products.\(id)")
                }
            default: refuseKey(key, "`app` and `products`")
            }
        }
    }

    private mutating func app(_ node: Node, into overlay: inout CatalogueOverlay) {
        for (key, value) in pairs(node, "app") {
            let path = "app.\(key)"
            switch key {
            case "bundleId": overlay.bundleID = text(value, path)
            case "name": overlay.appName = text(value, path)
            case "appId":
                overlay.appID = text(value, path).flatMap(Int64.init)
                if overlay.appID.map({ !(1..<(1 << 53)).contains($0) }) ?? true {
                    refuse(path, "an app's number is 1 to 2^53 - 1", "write the app's Apple ID")
                }
            default: refuseKey(path, "`bundleId`, `appId` and `name`")
            }
        }
    }

    private mutating func listing(_ node: Node, _ path: String) -> Listing {
        var listing = Listing()
        for (key, value) in pairs(node, path) {
            let path = "\(path).\(key)"
            switch key {
            case "state": listing.state = state(value, path)
            case "storefronts":
                listing.storefronts = list(value, path).compactMap { storefront($0, path) }
            case "prices":
                for (place, price) in pairs(value, path) {
                    prices(price, of: place, "\(path).\(place)", into: &listing)
                }
            case "images": listing.images = list(value, path).compactMap { image($0, path) }
            case "hosted": listing.isHosted = flag(value, path)
            case "free": listing.isFree = flag(value, path)
            case "onlyListedPrices": listing.hasBasePrice = !flag(value, path)
            default:
                refuseKey(
                    path,
                    "`state`, `storefronts`, `prices`, `images`, `hosted`, `free` and "
                        + "`onlyListedPrices`")
            }
        }
        return listing
    }

    /// Reads a price, or a list of prices and of `{price, from}`.
    private mutating func prices(
        _ node: Node, of place: String, _ path: String, into listing: inout Listing
    ) {
        guard let place = storefront(Node(place), path) else { return }
        let entries = node.sequence.map { Array($0) } ?? [node]
        for entry in entries {
            var amount: Amount?
            var start: Timestamp?
            if entry.mapping == nil {
                amount = price(entry, path)
            } else {
                for (key, value) in pairs(entry, path) {
                    switch key {
                    case "price": amount = price(value, path)
                    case "from":
                        start = text(value, path).flatMap(Timestamp.init(iso8601:))
                        if start == nil {
                            refuse(path, "it is not an instant", "write 2027-01-01T00:00:00Z")
                        }
                    default: refuseKey("\(path).\(key)", "`price` and `from`")
                    }
                }
            }
            if let amount {
                let isThere = listing.prices.contains {
                    $0.storefront == place && $0.startsAt == start
                }
                if isThere {
                    refuse(
                        path, "a storefront has one price from an instant on",
                        "remove one of them, or write another `from`")
                }
                listing.prices.append(
                    StorefrontPrice(storefront: place, amount: amount, startsAt: start))
            }
        }
    }

    // MARK: Values

    private mutating func pairs(_ node: Node, _ path: String) -> [(String, Node)] {
        if node.scalar?.string.isEmpty == true { return [] }
        guard let mapping = node.mapping else {
            refuse(path, "it must be keys and values", "write KEY: VALUE below it")
            return []
        }
        return mapping.compactMap { key, value in
            text(key, path).map { ($0, value) }
        }
    }

    private mutating func list(_ node: Node, _ path: String) -> [Node] {
        guard let sequence = node.sequence else {
            refuse(path, "it must be a list", "write it as [a, b]")
            return []
        }
        return Array(sequence)
    }

    /// Returns a scalar's own characters, so that no decimal is converted to
    /// binary.
    private mutating func text(_ node: Node, _ path: String) -> String? {
        guard let text = node.scalar?.string, !text.isEmpty else {
            refuse(path, "it must be one value", "write it behind the colon")
            return nil
        }
        return text
    }

    private mutating func flag(_ node: Node, _ path: String) -> Bool {
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default:
            refuse(path, "it must be true or false", "write one of them")
            return false
        }
    }

    private mutating func price(_ node: Node, _ path: String) -> Amount? {
        guard let text = text(node, path) else { return nil }
        if let amount = Amount(decimal: text) { return amount }
        refuse(
            path, "a price is digits with at most one point and three decimals",
            "write it like 0.99")
        return nil
    }

    private mutating func storefront(_ node: Node, _ path: String) -> String? {
        guard let code = text(node, path) else { return nil }
        if Storefront.named(code) != nil { return code }
        refuse(path, "there is no storefront \(code)", "write three letters such as USA")
        return nil
    }

    private mutating func image(_ node: Node, _ path: String) -> String? {
        guard let id = text(node, path) else { return nil }
        if IDText.isID(id) { return id }
        refuse(path, "an image's id is \(IDText.rule)", "write the name of its file without .png")
        return nil
    }

    private mutating func state(_ node: Node, _ path: String) -> ReviewState {
        let known: [ReviewState] = [.draft, .ready, .approved]
        if let state = known.first(where: { $0.rawValue == node.scalar?.string }) { return state }
        refuse(path, "a state is draft, ready or approved", "write one of them")
        return .draft
    }

    private mutating func refuseKey(_ path: String, _ known: String) {
        refuse(path, "this key is unknown", "known are \(known)")
    }

    private mutating func refuse(_ path: String, _ rule: String, _ remedy: String) {
        problems.append(
            CatalogueProblem(file: file, keyPath: path, rule: rule, remedy: remedy))
    }
}
