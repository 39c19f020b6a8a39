// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Shop
import StoreWire
import TestSupport
import Testing

/// The store's pages, as a browser without scripts uses them.
@Suite(.timeLimit(.minutes(5))) struct StorePagesTests {
    private static let app = "/store/apps/\(TestServer.bundleID)"
    private static let markup = #"<script>alert("1")</script><b title='x'>&amp;"#

    private func realm(_ server: TestServer, _ name: String = Store.defaultRealm) async throws
        -> Realm
    { try await server.store.realm(named: name) }

    @Test func `everyone sees what an app sells, at the prices of a chosen country`() async throws {
        try await TestServer.with { server in
            let browser = Browser(server)
            let page = try await browser.get(Self.app)
            #expect(page.status == 200)
            #expect(page.header("Content-Type") == "text/html; charset=utf-8")
            #expect(page.text.contains("The pro") && page.text.contains("$4.99"))
            #expect(page.text.contains("[Sandbox]") && page.text.contains("role=\"note\""))
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; ") && !policy.contains("unsafe"))
            #expect(page.header("Cache-Control") == "no-store")

            #expect(try await browser.get("/store/storefront?code=DEU").status == 303)
            let german = try await browser.get(Self.app).text
            #expect(german.contains("€") && !german.contains("$"))
            #expect(try await browser.get("/store/storefront?code=XXX").status == 400)

            let found = try await browser.get("/store/search?q=CREDITS%20the")
            #expect(found.text.contains("1 product found") && !found.text.contains("The pro"))
            let live = try await browser.get("/realms/live\(Self.app)")
            #expect(live.status == 200 && !live.text.contains("andbox"))
        }
    }

    @Test func `promoted products come first, with their pictures`() async throws {
        try await TestServer.with { server in
            let room = try await realm(server).promotions
            let context = Shop.RequestContext(requestID: "test")
            let app = TestServer.bundleID.value
            for (product, visibility) in [("pro", "show"), ("monthly", "hide")] {
                _ = try await room.set(
                    product, bundleID: app, image: SamplePicture.png(), visibility: visibility,
                    context)
            }
            let browser = Browser(server)
            let page = try await browser.get(Self.app).text
            let (pro, credits) = (page.range(of: "The pro"), page.range(of: "The credits.5"))
            #expect(try #require(pro).lowerBound < (try #require(credits)).lowerBound)
            #expect(page.contains("\(Self.app)/promotions/pro\""))
            #expect(!page.contains("promotions/monthly"))
            let picture = try await browser.get("\(Self.app)/promotions/pro")
            #expect(picture.header("Content-Type") == "image/png" && picture.status == 200)
            #expect(try await browser.get("\(Self.app)/promotions/monthly").status == 404)
        }
    }

    @Test func `a choice has a page of its own, and loading that chooses nothing`() async throws {
        try await TestServer.with { server in
            let app = TestServer.bundleID.value
            _ = try await realm(server).promotions.set(
                "pro", bundleID: app, image: SamplePicture.png(), visibility: "show",
                Shop.RequestContext(requestID: "test"))
            let browser = Browser(server)
            #expect(
                try await browser.get(Self.app).text.contains("Sign in to get <bdi>The pro</bdi>"))
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            let token = try #require(try await browser.get(Self.app).formToken)
            #expect(try await browser.post("\(Self.app)/choices/pro", [:]).status == 403)
            let none = try await browser.post("\(Self.app)/choices/credits.5", ["form": token])
            #expect(none.status == 404)

            let chosen = try await browser.post("\(Self.app)/choices/pro", ["form": token])
            let page = try #require(chosen.header("Location"))
            #expect(chosen.status == 303 && page.hasPrefix("/store/choices/"))
            for _ in 1...2 {
                #expect(try await browser.get(page).text.contains("within 24 hours"))
            }
            let again = try await browser.post("\(Self.app)/choices/pro", ["form": token])
            #expect(again.header("Location") == page)
            let strange = "/store/choices/00000000-0000-4000-8000-00000000abcd"
            #expect(try await browser.get(strange).status == 404)
        }
    }

    @Test func `choices of two browsers at once are one`() async throws {
        try await TestServer.with { server in
            let app = TestServer.bundleID.value
            _ = try await realm(server).promotions.set(
                "pro", bundleID: app, image: SamplePicture.png(), visibility: "show",
                Shop.RequestContext(requestID: "test"))
            var pages: [String] = []
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 1...2 {
                    let browser = Browser(server)
                    _ = try await browser.signIn(TestServer.customer, TestServer.password)
                    let token = try #require(try await browser.get(Self.app).formToken)
                    let cookies = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
                    let lines = [
                        "Origin: http://127.0.0.1:\(server.port)", "Cookie: \(cookies)",
                    ]
                    for _ in 1...3 {
                        group.addTask {
                            try await Browser(server).post(
                                "\(Self.app)/choices/pro", ["form": token], lines
                            ).header("Location")
                        }
                    }
                }
                for try await page in group { pages.append(try #require(page)) }
            }
            #expect(pages.count == 6 && Set(pages).count == 1, "\(pages)")
        }
    }

    @Test func `an app has an icon and a description, and featured apps come first`() async throws {
        try await TestServer.with { server in
            let room = try await realm(server).catalogue
            let context = Shop.RequestContext(requestID: "test")
            let app = TestServer.bundleID.value
            try await room.putCatalogue(
                Catalogue(
                    products: [
                        Product(
                            id: "one", kind: .nonConsumable, referenceName: "one",
                            price: Amount(milliunits: 990),
                            localizations: [
                                Localization(locale: "en_US", displayName: "One", details: "")
                            ])
                    ], storefront: "USA", locale: "en_US"),
                app: AppDescription(bundleID: "com.example.first", name: "First"))
            let images = [("icon", SamplePicture.png()), ("small", SamplePicture.png(width: 9))]
            for (id, image) in images {
                try await room.putImage(id, bundleID: app, image, context)
            }
            let small = await #expect(throws: Refusal.self) {
                try await room.changeAppPage(app, AppPageChange(icon: "small"), context)
            }
            #expect(small?.error.code == "iconInvalid")
            for (change, code) in [
                (AppPageChange(description: " \n\u{3000}"), "descriptionInvalid"),
                (AppPageChange(price: " \t"), "textInvalid"),
                (AppPageChange(price: "\u{A0} "), "textEmpty"),
                (AppPageChange(url: "HTTP://example.com"), "urlInvalid"),
            ] {
                let blank = await #expect(throws: Refusal.self) {
                    try await room.changeAppPage(app, change, context)
                }
                #expect(blank?.error.code == code)
            }
            let browser = Browser(server)
            let before = try await browser.get("/").text
            #expect(!before.contains("Featured"))
            #expect(try await browser.get("\(Self.app)/images/icon").status == 404)

            _ = try await room.changeAppPage(
                app,
                AppPageChange(
                    description: "Of <bananas>", icon: "icon", price: "Free",
                    url: "https://example.com/get?a=1&b", featured: 1), context)
            let page = try await browser.get(Self.app).text
            #expect(page.contains("Of &lt;bananas&gt;"))
            #expect(page.contains("href=\"https://example.com/get?a=1&amp;b\""))
            #expect(page.contains("<img class=\"icon\" src=\"\(Self.app)/images/icon\""))
            #expect(try await browser.get("\(Self.app)/images/icon").status == 200)
            let today = try await browser.get("/").text
            let headings = ["Featured", "Of &lt;", "More apps", ">First<"]
            let places = try headings.map { try #require(today.range(of: $0)).lowerBound }
            #expect(places == places.sorted())
            let used = await #expect(throws: Refusal.self) {
                try await room.deleteImage("icon", bundleID: app, context)
            }
            #expect(used?.error.code == "imageInUse")
            let address = AppPageChange(price: "", url: "HTTPS://example.com/get")
            let changed = try await room.changeAppPage(app, address, context)
            #expect(changed.price == nil)
            #expect(changed.url == "HTTPS://example.com/get")
            let cleared = AppPageChange(description: "", icon: "", url: "", featured: 0)
            let bare = try await room.changeAppPage(app, cleared, context)
            #expect(bare.description == nil && bare.url == nil)
            try await room.deleteImage("icon", bundleID: app, context)
            #expect(try await !browser.get("/").text.contains("Featured"))
        }
    }

    @Test func `a page that is not there is a page`() async throws {
        try await TestServer.with { server in
            let browser = Browser(server)
            for path in ["/store/nothing", "/store/apps/com.none", "\(Self.app)/images/none"] {
                let page = try await browser.get(path)
                #expect(page.status == 404, "\(path)")
                #expect(page.text.hasPrefix("<!doctype html>"), "\(path)")
            }
            #expect(try await browser.post("/store/search", [:]).status == 405)
            #expect(try await browser.get("/store/account").header("Location") == "/store/sign-in")
        }
    }

    @Test func `no text is markup`() async throws {
        try await TestServer.with { server in
            let realm = try await realm(server)
            try await realm.catalogue.putCatalogue(
                Catalogue(
                    products: [
                        Product(
                            id: "x", kind: .nonConsumable, referenceName: "x",
                            price: Amount(milliunits: 990),
                            localizations: [
                                Localization(
                                    locale: "en_US", displayName: Self.markup,
                                    details: Self.markup)
                            ])
                    ], storefront: "USA", locale: "en_US"),
                app: AppDescription(bundleID: TestServer.bundleID, name: Self.markup))
            _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: Self.markup))
            _ = try await realm.catalogue.changeAppPage(
                TestServer.bundleID.value,
                AppPageChange(
                    description: Self.markup, price: Self.markup,
                    url: "https://example.com/\(#""><script>"#)"),
                Shop.RequestContext(requestID: "test"))
            let browser = Browser(server)
            #expect(try await browser.signIn(Self.markup, "").status == 303)
            let query = "%3Cscript%3Ealert(%221%22)%3C/script%3E%3Cb%20title='x'%3E&amp;amp;"
            for path in ["/", Self.app, "/store/search?q=\(query)", "/store/account"] {
                let page = try await browser.get(path)
                #expect(page.status == 200, "\(path)")
                #expect(page.text.contains("&lt;script&gt;"), "\(path)")
                #expect(!page.text.contains("<script") && !page.text.contains("<b "), "\(path)")
            }
        }
    }

    @Test func `a customer signs in, sees what was bought, and signs out`() async throws {
        try await TestServer.with { server in
            let token = try await server.token(
                customer: TestServer.customer, password: TestServer.password)
            _ = try await server.buy(purchaseID(1), "pro", bearer: token)
            let browser = Browser(server)
            let wrong = try await browser.signIn(TestServer.customer, "wrong")
            #expect(wrong.status == 401 && wrong.text.contains("role=\"alert\""))
            #expect(!wrong.text.contains("wrong"))

            let signed = try await browser.signIn(TestServer.customer, TestServer.password)
            #expect(signed.status == 303 && signed.header("Location") == "/store/account")
            let cookie = try #require(signed.header("Set-Cookie"))
            #expect(cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=604800"))
            let account = try await browser.get("/store/account")
            #expect(account.text.contains("The pro") && account.text.contains("$4.99"))
            #expect(account.text.contains("Ask for the refund of <bdi>The pro</bdi>"))

            let kept = browser.cookies
            let form = try #require(account.formToken)
            #expect(try await browser.post("/store/sign-out", ["form": form]).status == 303)
            let old = kept.map { "\($0)=\($1)" }.joined(separator: "; ")
            #expect(
                try await Browser(server).get("/store/account", ["Cookie: \(old)"]).status == 303)
        }
    }

    @Test func `a changed password ends the sessions of browsers`() async throws {
        try await TestServer.with { server in
            let browser = Browser(server)
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            #expect(try await browser.get("/store/account").status == 200)
            let realm = try await realm(server)
            let customer = try #require(
                try await realm.customers.listCustomers().first { $0.name == TestServer.customer })

            _ = try await realm.customers.changeCustomer(
                customer.customerId, ChangeCustomerRequest(password: "another one"))

            #expect(try await browser.get("/store/account").status == 303)
        }
    }

    @Test func `a form of another page changes nothing`() async throws {
        try await TestServer.with { server in
            let id = try await Self.subscribe(server)
            let path = "/store/subscriptions/\(id)/renewal"
            let browser = Browser(server)
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            let form = try #require(try await browser.get("/store/account").formToken)
            let own = "Origin: http://127.0.0.1:\(server.port)"
            let other = Browser(server)
            _ = try await other.signIn(TestServer.customer, TestServer.password)
            let others = try #require(try await other.get("/store/account").formToken)
            let tries: [(String, [String: String], [String]?)] = [
                ("no token", ["on": "false"], nil),
                ("a wrong token", ["on": "false", "form": String(form.reversed())], nil),
                ("another session's token", ["on": "false", "form": others], nil),
                ("another site", ["on": "false", "form": form], ["Origin: http://evil.example"]),
                ("no site", ["on": "false", "form": form], ["Origin: null"]),
                (
                    "a request of another site", ["on": "false", "form": form],
                    [own, "Sec-Fetch-Site: cross-site"]
                ),
            ]
            for (name, fields, lines) in tries {
                #expect(try await browser.post(path, fields, lines).status == 403, "\(name)")
            }
            let realm = try await realm(server)
            #expect(try await realm.subscriptions.show(id).isRenewing)

            #expect(
                try await browser.post(path, ["on": "false", "form": form]).status == 303)
            #expect(try await !realm.subscriptions.show(id).isRenewing)
            let account = try await browser.get("/store/account")
            #expect(account.text.contains("Resume the renewal"))
            let events = try await realm.subscriptions.history(
                of: try await realm.subscriptions.show(id).customerId)
            #expect(events.events.last?.cause == "customer")
        }
    }

    @Test func `a page that is out of date turns no renewal on`() async throws {
        try await TestServer.with { server in
            let id = try await Self.subscribe(server)
            let realm = try await realm(server)
            try await Self.offer("gold", price: 9990, in: realm)
            let (product, renewal) = (
                "/store/subscriptions/\(id)/product", "/store/subscriptions/\(id)/renewal"
            )
            let (old, new) = (Browser(server), Browser(server))
            _ = try await old.signIn(TestServer.customer, TestServer.password)
            _ = try await new.signIn(TestServer.customer, TestServer.password)
            let page = try await old.get("/store/account")
            #expect(page.text.contains(#"name="next" value="pass""#))
            let stale = ["form": try #require(page.formToken), "next": "pass"]
            let form = try #require(try await new.get("/store/account").formToken)
            let off = ["form": form, "on": "false"]
            #expect(try await new.post(renewal, off).status == 303)

            for chosen in ["pass", "gold"] {
                let fields = stale.merging(["product": chosen]) { $1 }
                let refused = try await old.post(product, fields)
                #expect(refused.status == 409 && refused.text.contains("in the meantime"))
                #expect(try await !realm.subscriptions.show(id).isRenewing)
            }

            let on = ["form": form, "on": "true", "next": "pass"]
            #expect(try await new.post(renewal, on).status == 303)
            let dearer = ["form": form, "product": "gold", "next": "pass"]
            #expect(try await new.post(product, dearer).status == 303)
            let back = stale.merging(["product": "pass"]) { $1 }
            #expect(try await old.post(product, back).status == 409)
            #expect(try await realm.subscriptions.show(id).nextProductId == "gold")
            // What was chosen last is not resumed under another product's name.
            #expect(try await new.post(renewal, off).status == 303)
            #expect(try await old.post(renewal, on.merging(stale) { $1 }).status == 409)
            let account = try await new.get("/store/account").text
            #expect(account.contains("Resume the renewal as <bdi>A gold</bdi>"))
            let seen = ["form": form, "on": "true", "next": "gold"]
            #expect(try await new.post(renewal, seen).status == 303)
            #expect(try await realm.subscriptions.show(id).isRenewing)
        }
    }

    @Test func `what is another customer's is not found`() async throws {
        try await TestServer.with { server in
            let id = try await Self.subscribe(server)
            let realm = try await realm(server)
            _ = try await realm.customers.createCustomer(CreateCustomerRequest(name: "eve"))
            let browser = Browser(server)
            _ = try await browser.signIn("eve", "")
            let form = try #require(try await browser.get("/store/account").formToken)
            let tries: [(String, [String: String])] = [
                ("/store/subscriptions/\(id)/renewal", ["on": "false"]),
                ("/store/subscriptions/\(id)/product", ["product": "monthly"]),
                ("/store/transactions/\(id)/refund", ["reason": "OTHER"]),
                ("/store/approvals/\(purchaseID(1))/1", ["answer": "approved"]),
            ]
            for (path, fields) in tries {
                let fields = fields.merging(["form": form]) { $1 }
                #expect(try await browser.post(path, fields).status == 404, "\(path)")
            }
            #expect(try await realm.subscriptions.show(id).isRenewing)
            #expect(try await realm.refunds.list().refunds.isEmpty)
        }
    }

    @Test func `reviews are on an app's page, without markup and without full names`()
        async throws
    {
        try await TestServer.with { server in
            let browser = Browser(server)
            #expect(try await browser.get(Self.app).text.contains("Nobody has rated this app yet"))
            let realm = try await realm(server)
            let context = Shop.RequestContext(requestID: "test")
            let token = try await server.token(
                customer: TestServer.customer, password: TestServer.password)
            let session = try await realm.customers.session(token: token)
            _ = try await realm.reviews.write(
                ReviewRequest(stars: 3, text: Self.markup), session, context)
            _ = try await realm.reviews.answer(
                session.customer.description, bundleID: TestServer.bundleID.value,
                AnswerReviewRequest(text: Self.markup), context)

            let page = try await browser.get(Self.app).text
            #expect(page.contains("3.0 of 5 stars, 1 review</p>"))
            #expect(page.contains("<strong>3 of 5</strong> · <bdi>b…</bdi> · "))
            #expect(!page.contains("blob") && !page.contains("<script") && !page.contains("<b "))
            #expect(page.split(separator: "&lt;script&gt;").count == 3)
        }
    }

    @Test func `a customer switches requests for reviews off and on`() async throws {
        try await TestServer.with { server in
            let browser = Browser(server)
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            let form = try #require(try await browser.get("/store/account").formToken)
            let path = "/store/reviews/requests"
            #expect(try await browser.post(path, ["on": "false"]).status == 403)
            #expect(try await browser.post(path, ["form": form, "on": "x"]).status == 400)
            for (on, words) in [
                ("false", "Apps do not ask you to rate them"), ("true", "Apps may ask you"),
            ] {
                #expect(try await browser.post(path, ["form": form, "on": on]).status == 303)
                #expect(try await browser.get("/store/account").text.contains(words))
            }
        }
    }

    @Test func `a refund is asked for once`() async throws {
        try await TestServer.with { server in
            let id = try await Self.subscribe(server)
            let browser = Browser(server)
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            let form = try #require(try await browser.get("/store/account").formToken)
            for _ in 0..<2 {
                let page = try await browser.post(
                    "/store/transactions/\(id)/refund", ["form": form, "reason": "OTHER"])
                #expect(page.status == 303)
            }
            let refunds = try await realm(server).refunds.list().refunds
            #expect(refunds.map(\.state) == ["requested"])
            let account = try await browser.get("/store/account")
            #expect(account.text.contains("A refund is asked for"))
            #expect(!account.text.contains("Ask for the refund"))
        }
    }

    @Test func `a parent answers a child's payment`() async throws {
        try await TestServer.with { server in
            let realm = try await realm(server)
            let context = Shop.RequestContext(requestID: "test")
            let child = try await realm.customers.createCustomer(
                CreateCustomerRequest(name: "kid", asksToBuy: true))
            let parent = try #require(
                try await realm.customers.listCustomers().first { $0.name == TestServer.customer })
            try await realm.families.join(
                parent.customerId, member: child.customerId, context)
            let token = try await server.token(customer: "kid")
            _ = try await server.buy(purchaseID(1), "pro", bearer: token)
            let browser = Browser(server)
            _ = try await browser.signIn(TestServer.customer, TestServer.password)
            let account = try await browser.get("/store/account")
            #expect(
                account.text.contains(
                    "<strong><bdi>kid</bdi></strong> asks for <strong><bdi>The pro</bdi></strong>"))
            let path = "/store/approvals/\(purchaseID(1))/\(child.customerId)"
            let form = ["form": try #require(account.formToken), "answer": "approved"]

            #expect(try await browser.post(path, form).status == 303)

            let sold = try await realm.purchases.listTransactions(customer: child.customerId)
            #expect(sold.transactions.count == 1)
            // The child cannot approve its own.
            let own = Browser(server)
            _ = try await own.signIn("kid", "")
            let token2 = try #require(try await own.get("/store/account").formToken)
            let again = ["form": token2, "answer": "approved"]
            #expect(try await own.post(path, again).status == 404)
        }
    }

    /// The customer subscribes. Returns the subscription's number.
    private static func subscribe(_ server: TestServer) async throws -> String {
        let realm = try await server.store.realm(named: Store.defaultRealm)
        try await offer("pass", price: 990, in: realm)
        let token = try await server.token(
            customer: TestServer.customer, password: TestServer.password)
        let reply = try await server.buy(purchaseID(1), "pass", bearer: token)
        #expect(reply.status == 200, "\(reply.text)")
        return try #require(try await realm.subscriptions.list().subscriptions.first)
            .subscriptionId
    }

    /// Sells a monthly subscription of one group.
    private static func offer(_ id: String, price: Int64, in realm: Realm) async throws {
        let app = TestServer.bundleID.value
        let context = Shop.RequestContext(requestID: "test")
        _ = try await realm.catalogue.createProduct(
            CreateProductRequest(
                productId: id, type: "auto-renewable", groupId: "pro", period: "P1M"),
            bundleID: app, context)
        var change = ProductChange()
        change.price = price
        change.localizations = [
            ProductWords(locale: "en_US", displayName: "A \(id)", description: "")
        ]
        change.state = "ready"
        _ = try await realm.catalogue.changeProduct(id, bundleID: app, change, context)
    }
}
