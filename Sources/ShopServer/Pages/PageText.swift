// SPDX-License-Identifier: Apache-2.0

import Mustache

/// The pages' HTML. `{{name}}` is always escaped; no template has an unescaped one.
/// Nothing here needs JavaScript, a style attribute or another site, so that the strictest
/// content policy holds. In a sentence, a text that is not ours stands in `<bdi>`: one from
/// right to left would else reorder the price beside it.
enum PageText {
    /// Every page by the name of its template.
    static let library: MustacheLibrary? = {
        let texts = [
            "layout": layout, "today": today, "search": search, "app": app, "apps": apps,
            "card": card, "getting": getting, "icon": icon, "product": product, "reviews": reviews,
            "signIn": signIn, "account": account,
            "message": message, "storefronts": storefronts,
        ]
        guard let templates = try? texts.mapValues(MustacheTemplate.init(string:)) else {
            return nil
        }
        return MustacheLibrary(templates: templates)
    }()

    /// Renders a page. Nil if its template cannot be read. `storefronts`: the options of
    /// the chooser at its end, which are the longest part of a page and are rendered once.
    /// Without them there is no chooser.
    static func page(
        _ name: String, _ facts: [String: Any], storefronts: String = ""
    ) -> [UInt8]? {
        var facts = facts
        facts["hasChooser"] = !storefronts.isEmpty
        return library.flatMap { $0.render(facts, withTemplate: name) }
            .map { Array("\($0)\(storefronts)\(storefronts.isEmpty ? end : chooserEnd)".utf8) }
    }

    private static let storefronts = """
        {{#storefronts}}
        <option value="{{code}}">{{name}}</option>
        {{/storefronts}}

        """

    /// What follows the options.
    private static let chooserEnd = """
        </select>
        <button>Change</button>
        </form>
        </footer>
        \(end)
        """

    private static let end = """
        </body>
        </html>

        """

    /// Ends where the options begin.
    private static let layout = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{#isSandbox}}[Sandbox] {{/isSandbox}}{{title}}</title>
        <link rel="stylesheet" href="{{base}}/store/style.css">
        </head>
        <body>
        <a class="skip" href="#main">Skip to the content</a>
        {{#isSandbox}}
        <p class="sandbox" role="note"><strong>Sandbox.</strong> This is a test store. Nothing here \
        costs money.</p>
        {{/isSandbox}}
        <header>
        <nav aria-label="Store">
        <a class="home" href="{{base}}/">Store</a>
        {{#visitorName}}
        <a href="{{base}}/store/account">Your account</a>
        <form method="post" action="{{base}}/store/sign-out">
        <input type="hidden" name="form" value="{{formToken}}">
        <button>Sign out <bdi>{{visitorName}}</bdi></button>
        </form>
        {{/visitorName}}
        {{^visitorName}}{{#isVisitorKnown}}<a href="{{base}}/store/sign-in">Sign in</a>\
        {{/isVisitorKnown}}{{/visitorName}}
        </nav>
        <form role="search" method="get" action="{{base}}/store/search">
        <label for="q">Search apps and products</label>
        <input id="q" name="q" type="search" maxlength="100" value="{{query}}">
        <button>Search</button>
        </form>
        </header>
        <main id="main">
        <h1>{{title}}</h1>
        {{$content}}{{/content}}
        </main>
        {{#hasChooser}}
        <footer>
        <form method="get" action="{{base}}/store/storefront">
        <label for="storefront">Country or region</label>
        <select id="storefront" name="code">
        {{/hasChooser}}

        """

    private static let today = """
        {{<layout}}{{$content}}
        {{#hasFeatured}}<h2>Featured</h2>{{/hasFeatured}}
        {{#featured}}{{>card}}{{/featured}}
        {{#hasMore}}<h2>More apps</h2>{{/hasMore}}
        {{#others}}{{>card}}{{/others}}
        {{#isEmpty}}<p>No app is sold here yet.</p>{{/isEmpty}}
        {{/content}}{{/layout}}
        """

    private static let getting = """
        {{#ownPrice}}<p>The app: <bdi class="price">{{ownPrice}}</bdi></p>{{/ownPrice}}
        {{#url}}<p><a href="{{url}}" rel="noreferrer">Get the app</a></p>{{/url}}
        """

    private static let card = """
        <section class="featured" aria-labelledby="f-{{place}}">
        {{>icon}}
        <h2 id="f-{{place}}"><a href="{{base}}/store/apps/{{path}}"><bdi>{{name}}</bdi></a></h2>
        {{#description}}<p class="words" dir="auto">{{description}}</p>{{/description}}
        {{#product}}{{>product}}{{/product}}
        </section>
        """

    private static let search = """
        {{<layout}}{{$content}}
        <p role="status">{{answer}}{{#isAnswered}} “<bdi>{{asked}}</bdi>”.{{/isAnswered}}</p>
        {{>apps}}
        {{/content}}{{/layout}}
        """

    private static let apps = """
        {{#apps}}
        <section aria-labelledby="a-{{place}}">
        {{>icon}}
        <h2 id="a-{{place}}"><a href="{{base}}/store/apps/{{path}}"><bdi>{{name}}</bdi></a></h2>
        <ul class="products">
        {{#products}}<li>{{>product}}</li>{{/products}}
        </ul>
        </section>
        {{/apps}}
        """

    private static let icon = """
        {{#icon}}<img class="icon" src="{{icon}}" alt="" width="64" height="64">{{/icon}}\
        {{^icon}}<p class="icon tone-{{tone}}" aria-hidden="true">{{letter}}</p>{{/icon}}
        """

    private static let product = """
        <article>
        {{#image}}<img src="{{image}}" alt="" width="96" height="96" loading="lazy">{{/image}}
        <h3 lang="{{lang}}"><bdi>{{name}}</bdi></h3>
        {{#details}}<p lang="{{lang}}" dir="auto">{{details}}</p>{{/details}}
        <p class="price"><bdi>{{price}}</bdi></p>
        <p class="kind">{{kind}}{{#isFamilyShareable}} · Family Sharing{{/isFamilyShareable}}</p>
        {{#choice}}
        <form method="post" action="{{choice}}">
        <input type="hidden" name="form" value="{{formToken}}">
        <button>Get <bdi>{{name}}</bdi> in the app</button>
        </form>
        {{/choice}}
        {{#isForSigningIn}}
        <p><a href="{{base}}/store/sign-in">Sign in to get <bdi>{{name}}</bdi> in the app</a></p>
        {{/isForSigningIn}}
        </article>
        """

    private static let app = """
        {{<layout}}{{$content}}
        {{>icon}}
        {{#description}}<p class="words" dir="auto">{{description}}</p>{{/description}}
        {{>getting}}
        {{#hasPromoted}}
        <h2>Promoted</h2>
        <ul class="products">
        {{#promoted}}<li>{{>product}}</li>{{/promoted}}
        </ul>
        {{/hasPromoted}}
        <h2>In-app purchases</h2>
        <ul class="products">
        {{#products}}<li>{{>product}}</li>{{/products}}
        </ul>
        {{#isEmpty}}<p>Nothing is sold in this country or region.</p>{{/isEmpty}}
        {{>reviews}}
        {{/content}}{{/layout}}
        """

    private static let reviews = """
        <section aria-labelledby="reviews">
        <h2 id="reviews">Ratings and reviews</h2>
        {{#rating}}<p>{{rating}}</p>{{/rating}}
        {{^rating}}<p>Nobody has rated this app yet.</p>{{/rating}}
        <ul>
        {{#reviews}}
        <li class="card">
        <p><strong>{{stars}}</strong> · <bdi>{{reviewer}}</bdi> · \
        <time datetime="{{date}}">{{day}}</time> · Version <bdi>{{version}}</bdi></p>
        {{#text}}<p class="words" dir="auto">{{text}}</p>{{/text}}
        {{#answer}}<p>The developer answers:</p>
        <blockquote class="words" dir="auto">{{answer}}</blockquote>{{/answer}}
        </li>
        {{/reviews}}
        </ul>
        </section>
        """

    private static let signIn = """
        {{<layout}}{{$content}}
        {{#problem}}<p class="problem" role="alert">{{problem}}</p>{{/problem}}
        <form class="card" method="post" action="{{base}}/store/sign-in">
        <input type="hidden" name="form" value="{{formToken}}">
        <p><label for="name">Name</label>
        <input id="name" name="name" required maxlength="255" autocomplete="username"></p>
        <p><label for="password">Password</label>
        <input id="password" name="password" type="password" maxlength="1024" \
        autocomplete="current-password"></p>
        {{#isSandbox}}<p>A tester without a password leaves it empty.</p>{{/isSandbox}}
        <p><button>Sign in</button></p>
        </form>
        {{/content}}{{/layout}}
        """

    private static let account = """
        {{<layout}}{{$content}}
        {{#hasChildren}}
        <section aria-labelledby="approvals">
        <h2 id="approvals">Waiting for your approval</h2>
        <ul>
        {{#approvals}}
        <li class="card">
        <p><strong><bdi>{{child}}</bdi></strong> asks for <strong>{{#count}}{{count}} × {{/count}}\
        <bdi>{{product}}</bdi></strong> in <bdi>{{app}}</bdi>: <bdi>{{price}}</bdi></p>
        <form method="post" action="{{base}}/store/approvals/{{purchaseID}}/{{childID}}">
        <input type="hidden" name="form" value="{{formToken}}">
        <button name="answer" value="approved">Approve</button>
        <button name="answer" value="declined">Decline</button>
        </form>
        </li>
        {{/approvals}}
        </ul>
        </section>
        {{/hasChildren}}
        <section aria-labelledby="subscriptions">
        <h2 id="subscriptions">Subscriptions</h2>
        {{^subscriptions}}<p>You have no subscription.</p>{{/subscriptions}}
        <ul>
        {{#subscriptions}}
        <li class="card">
        <h3><bdi>{{product}}</bdi></h3>
        <p><bdi>{{app}}</bdi></p>
        <p>{{sentence}}{{#nextProduct}} as <bdi>{{nextProduct}}</bdi>{{/nextProduct}}\
        {{#sum}} for <bdi>{{sum}}</bdi>.{{/sum}}</p>
        {{#switch}}
        <form method="post" action="{{base}}/store/subscriptions/{{id}}/renewal">
        <input type="hidden" name="form" value="{{formToken}}">
        <input type="hidden" name="next" value="{{nextID}}">
        <button name="on" value="{{switch}}">{{switchLabel}}\
        {{#switchProduct}} as <bdi>{{switchProduct}}</bdi>{{/switchProduct}}</button>
        </form>
        {{/switch}}
        {{#hasOthers}}
        <form method="post" action="{{base}}/store/subscriptions/{{id}}/product">
        <input type="hidden" name="form" value="{{formToken}}">
        <input type="hidden" name="next" value="{{nextID}}">
        <label for="product-{{id}}">From the next period on</label>
        <select id="product-{{id}}" name="product">
        {{#others}}
        <option value="{{id}}"{{#isChosen}} selected{{/isChosen}}>{{label}}</option>
        {{/others}}
        </select>
        <button>Change</button>
        </form>
        {{/hasOthers}}
        </li>
        {{/subscriptions}}
        </ul>
        </section>
        <section aria-labelledby="requests">
        <h2 id="requests">Requests for reviews</h2>
        <p>{{#isAsked}}Apps may ask you to rate them.{{/isAsked}}\
        {{^isAsked}}Apps do not ask you to rate them.{{/isAsked}}</p>
        <form method="post" action="{{base}}/store/reviews/requests">
        <input type="hidden" name="form" value="{{formToken}}">
        {{#isAsked}}<button name="on" value="false">Switch requests off</button>{{/isAsked}}
        {{^isAsked}}<button name="on" value="true">Switch requests on</button>{{/isAsked}}
        </form>
        </section>
        <section aria-labelledby="purchases">
        <h2 id="purchases">Purchases</h2>
        {{^purchases}}<p>You have bought nothing{{#isFurther}} more{{/isFurther}}.</p>{{/purchases}}
        <ul>
        {{#purchases}}
        <li class="card">
        <h3><bdi>{{product}}</bdi></h3>
        <p><bdi>{{app}}</bdi> · <time datetime="{{date}}">{{day}}</time>\
        {{#price}} · <bdi>{{price}}</bdi>{{/price}}</p>
        {{#order}}<p>Order {{order}}</p>{{/order}}
        {{#state}}<p><strong>{{state}}</strong></p>{{/state}}
        {{#isRefundable}}
        <details>
        <summary>Ask for a refund</summary>
        <form method="post" action="{{base}}/store/transactions/{{id}}/refund">
        <input type="hidden" name="form" value="{{formToken}}">
        <label for="reason-{{id}}">Reason</label>
        <select id="reason-{{id}}" name="reason">
        <option value="UNINTENDED_PURCHASE">I did not mean to buy this</option>
        <option value="FULFILLMENT_ISSUE">It did not arrive or does not work</option>
        <option value="UNSATISFIED_WITH_PURCHASE">I am not satisfied with it</option>
        <option value="OTHER">Another reason</option>
        </select>
        <button>Ask for the refund of <bdi>{{product}}</bdi></button>
        </form>
        </details>
        {{/isRefundable}}
        </li>
        {{/purchases}}
        </ul>
        {{#next}}<p><a href="{{base}}/store/account?after={{next}}#purchases">More purchases</a></p>\
        {{/next}}
        </section>
        {{/content}}{{/layout}}
        """

    private static let message = """
        {{<layout}}{{$content}}
        <p{{#isProblem}} role="alert"{{/isProblem}}>{{text}}</p>
        {{>getting}}
        {{#again}}<p><a href="{{base}}{{again}}">See what the app has decided</a></p>{{/again}}
        {{#remedy}}<p>{{remedy}}</p>{{/remedy}}
        <p><a href="{{base}}{{back}}">{{backLabel}}</a></p>
        {{/content}}{{/layout}}
        """
}
