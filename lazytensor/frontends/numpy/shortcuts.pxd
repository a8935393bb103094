from lazytensor.frontends.numpy.ufuncs.recipes cimport Recipes
