# SPDX-License-Identifier: Apache-2.0
# What mkdocs needs to know of this book: pages link to files outside docs, which the site gets as they are, and equations
# are set by KaTeX, which the site brings along. Only files of the repository and of Debian's packages are read.
import os
import re
import shutil

from mkdocs.structure.files import File

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KATEX = '/usr/share/javascript/katex'
PAGES = {'README.md': 'index.md'}  # what the site has under another name

EQUATIONS = '''// SPDX-License-Identifier: Apache-2.0
document.addEventListener('DOMContentLoaded', () => renderMathInElement(document.body, {
  delimiters: [{left: '\\\\(', right: '\\\\)', display: false}, {left: '\\\\[', right: '\\\\]', display: true}],
  throwOnError: true,
}));
'''

COPIES = os.path.join(TOP, 'build', 'book_files')  # what pages link to outside of docs
LINK = re.compile(r'\]\(([^)\s]+)\)')


def outside(target, page):
    """The path, from the top, of a file outside docs that the page links to; None for any other link."""
    path = os.path.normpath(os.path.join('docs', os.path.dirname(page), target))
    if ':' in target or target.startswith('#') or path.startswith('docs' + os.sep):
        return None
    return path


def on_files(files, config, **_):
    """The site holds a copy of each of these files."""
    shutil.rmtree(COPIES, ignore_errors=True)
    found = set()
    for page in files.documentation_pages():
        with open(page.abs_src_path, encoding='utf-8') as text:
            found.update(outside(target, page.src_path) for target in LINK.findall(text.read()))
    for path in sorted(found - {None} - set(PAGES)):
        name = os.path.join('source', path + '.txt')
        os.makedirs(os.path.dirname(os.path.join(COPIES, name)), exist_ok=True)
        shutil.copyfile(os.path.join(TOP, path), os.path.join(COPIES, name))
        files.append(File(name, COPIES, config['site_dir'], config['use_directory_urls']))
    return files


def on_page_markdown(markdown, page, **_):
    def replace(match):
        path = outside(match.group(1), page.file.src_path)
        if path is None:
            return match.group(0)
        return f']({PAGES[path]})' if path in PAGES else f'](source/{path}.txt)'

    return LINK.sub(replace, markdown)


def on_post_build(config, **_):
    site = config['site_dir']
    shutil.copytree(KATEX, os.path.join(site, 'katex'), dirs_exist_ok=True)
    with open(os.path.join(site, 'equations.js'), 'w', encoding='utf-8') as script:
        script.write(EQUATIONS)
