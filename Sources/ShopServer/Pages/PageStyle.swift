// SPDX-License-Identifier: Apache-2.0

/// The one style sheet of the pages.
enum PageStyle {
    static let css = """
        :root { color-scheme: light dark; --text: #1b1b1f; --ground: #fdfdfd; --card: #f1f1f4;
          --line: #c4c4cc; --link: #0b57c2; --quiet: #55555e; --note: #ffdf70; }
        @media (prefers-color-scheme: dark) { :root { --text: #f2f2f5; --ground: #16161a;
          --card: #24242a; --line: #4a4a55; --link: #8ab8ff; --quiet: #b4b4c0; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 2rem; color: var(--text);
          background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; }
        a { color: var(--link); }
        :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        .skip { position: absolute; left: -99rem; }
        .skip:focus { position: static; }
        .sandbox { margin: 0 -1rem; padding: .5rem 1rem; color: #1b1b1f; background: var(--note); }
        header, nav, footer form, header form { display: flex; flex-wrap: wrap; gap: .75rem;
          align-items: center; }
        header { justify-content: space-between; padding: 1rem 0;
          border-bottom: 1px solid var(--line); }
        .home { font-weight: 700; font-size: 1.25rem; }
        h1 { font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
        h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
        h3 { margin: 0; font-size: 1.0625rem; }
        ul { list-style: none; margin: 0; padding: 0; }
        .products { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr));
          gap: 1rem; }
        article, .card { padding: 1rem; margin: 0 0 1rem; background: var(--card);
          border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
        article p, .card p { margin: .25rem 0; }
        article img { border-radius: .75rem; }
        .words { white-space: pre-line; }
        .price { font-weight: 700; }
        .kind { color: var(--quiet); font-size: .875rem; }
        .icon { display: inline-grid; place-items: center; width: 4rem; height: 4rem;
          margin: 1rem 0 0; border-radius: 1rem; color: #fff; font-size: 2rem; font-weight: 700; }
        img.icon { background: none; object-fit: cover; }
        .tone-0 { background: #a3294d; } .tone-1 { background: #6b3fa0; }
        .tone-2 { background: #23609e; } .tone-3 { background: #146c5f; }
        .tone-4 { background: #7a5200; } .tone-5 { background: #43536b; }
        .problem { padding: .75rem 1rem; border: 2px solid #c22; border-radius: .5rem; }
        input, select, button { font: inherit; color: inherit; padding: .4rem .6rem;
          background: var(--ground); border: 1px solid var(--line); border-radius: .5rem;
          max-width: 100%; }
        button { cursor: pointer; background: var(--card); }
        label { display: inline-block; }
        .card label { margin: .5rem .5rem .25rem 0; }
        footer { margin-top: 2rem; padding-top: 1rem; border-top: 1px solid var(--line); }
        """
}
