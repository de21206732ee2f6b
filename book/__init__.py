"""Builds the course as a static book: the released notebooks, with outputs that instructors stored, and the guides.

    release/ --text, source/ --outputs by id--> notebook.py --+
    source/start.ipynb --tables--> course.py -----------------+--> pages.py --> Sphinx (conf.py) --> links.py
    docs/, packages/ --Markdown-------------------------------+

No notebook is executed, and nothing is loaded from the network.
"""
